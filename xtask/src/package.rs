//! `cargo xtask package`: every public crate as its users will get it.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::{cargo, process};

/// What a registry shows of a package, and what its users need.
const MEMBERS: [&str; 6] = ["description", "license", "readme", "rust_version", "keywords", "categories"];
const FILES: [&str; 3] = ["README.md", "LICENSE-APACHE", "LICENSE-MIT"];

/// A crate that is published.
#[derive(Debug)]
struct Public {
    name: String,
    /// Its folder in the checkout.
    folder: PathBuf,
    /// Where its package is unpacked.
    unpacked: PathBuf,
}

/// Packages all public crates, builds what is in the packages, and builds the documentation as docs.rs does.
pub(crate) fn run() -> Result<()> {
    let metadata = process::output(&mut cargo::command(&["metadata", "--locked", "--no-deps", "--format-version=1"]))?;
    let metadata: Value = serde_json::from_slice(&metadata).context("the output of `cargo metadata`")?;
    let target = PathBuf::from(metadata["target_directory"].as_str().context("no target directory")?);
    let public = public(&metadata, &target)?;
    forget_earlier(&public)?;
    // All at once: each is built with the packages of the others, which no registry has.
    let mut package = cargo::command(&["package", "--locked", "--allow-dirty"]);
    process::run(package.args(public.iter().flat_map(|one| ["--package", &one.name])))?;
    for one in &public {
        one.check_files()?;
        // A library shows its guides only when it is documented.
        let mut doc = cargo::command(&["doc", "--no-deps", "--all-features", "--manifest-path"]);
        doc.arg(one.unpacked.join("Cargo.toml")).arg("--target-dir").arg(&target);
        doc.env("RUSTDOCFLAGS", "-D warnings");
        for other in public.iter().filter(|other| other.name != one.name) {
            doc.arg("--config").arg(format!("patch.crates-io.{}.path={:?}", other.name, other.unpacked));
        }
        process::run(&mut doc)?;
    }
    Ok(())
}

/// Removes what cargo has unpacked and built from the packages of an earlier run: it goes by name and version, and would take that.
fn forget_earlier(public: &[Public]) -> Result<()> {
    let mut clean = cargo::command(&["clean", "--quiet", "--locked"]);
    process::run(clean.args(public.iter().flat_map(|one| ["--package", &one.name])))?;
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo"))).context("no folder of cargo")?;
    let registries = std::fs::read_dir(home.join("registry/src"))
        .into_iter()
        .flatten()
        .chain(std::fs::read_dir(home.join("registry/cache")).into_iter().flatten());
    for registry in registries {
        let registry = registry?;
        // A registry that is a folder of this machine has no host in its name.
        if !registry.file_name().to_string_lossy().starts_with('-') {
            continue;
        }
        for one in public {
            let unpacked = one.unpacked.file_name().context("a package has a name")?;
            let unpacked = registry.path().join(unpacked);
            let mut packed = unpacked.clone().into_os_string();
            packed.push(".crate");
            // Most registries have neither.
            let _ = (std::fs::remove_dir_all(&unpacked), std::fs::remove_file(packed));
        }
    }
    Ok(())
}

/// The members of the workspace that may be published. Each must say what a registry shows.
fn public(metadata: &Value, target: &Path) -> Result<Vec<Public>> {
    let packages = metadata["packages"].as_array().context("no packages")?;
    let mut public = Vec::new();
    for package in packages.iter().filter(|package| package["publish"].is_null()) {
        let text = |member: &str| package[member].as_str().with_context(|| format!("a package without {member}"));
        let (name, version) = (text("name")?, text("version")?);
        let is_missing = |member: &&&str| {
            let value = &package[**member];
            value.is_null() || value.as_array().is_some_and(Vec::is_empty)
        };
        let missing: Vec<_> = MEMBERS.iter().filter(is_missing).copied().collect();
        ensure!(missing.is_empty(), "the manifest of `{name}` has no {}", missing.join(", "));
        let folder = Path::new(text("manifest_path")?).parent().context("a manifest is in a folder")?.to_owned();
        let unpacked = target.join("package").join(format!("{name}-{version}"));
        public.push(Public { name: name.to_owned(), folder, unpacked });
    }
    Ok(public)
}

impl Public {
    /// Makes sure that the package has its README, its licences and its guides.
    fn check_files(&self) -> Result<()> {
        let mut files: Vec<PathBuf> = FILES.iter().map(PathBuf::from).collect();
        if let Ok(guides) = std::fs::read_dir(self.folder.join("docs")) {
            for guide in guides {
                files.push(Path::new("docs").join(guide?.file_name()));
            }
        }
        let missing: Vec<_> = files.into_iter().filter(|file| !self.unpacked.join(file).is_file()).collect();
        ensure!(missing.is_empty(), "the package of `{}` lacks {missing:?}", self.name);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn metadata(keywords: &[&str]) -> Value {
        let (path, other) = ("/src/one/Cargo.toml", "/src/other/Cargo.toml");
        json!({ "packages": [
            { "name": "one", "version": "0.1.0", "publish": null, "manifest_path": path, "description": "One",
                "license": "MIT", "readme": "README.md", "rust_version": "1.95", "keywords": keywords,
                "categories": ["encoding"] },
            { "name": "other", "version": "0.0.0", "publish": [], "manifest_path": other },
        ] })
    }

    #[test]
    fn public_crates_say_what_a_registry_shows() {
        let found = public(&metadata(&["mcp"]), Path::new("/target")).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].unpacked, Path::new("/target/package/one-0.1.0"));
        let error = public(&metadata(&[]), Path::new("/target")).unwrap_err().to_string();
        assert_eq!(error, "the manifest of `one` has no keywords");
    }

    #[test]
    fn a_package_without_a_guide_is_an_error() {
        let home = std::env::temp_dir().join(format!("xtask-package-{}", std::process::id()));
        let one = Public { name: "one".to_owned(), folder: home.join("one"), unpacked: home.join("package") };
        let mut files: Vec<PathBuf> = FILES.iter().map(|file| one.unpacked.join(file)).collect();
        files.extend([one.folder.join("docs/asking.md"), one.unpacked.join("docs/asking.md")]);
        for file in &files {
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "").unwrap();
        }
        one.check_files().unwrap();
        std::fs::remove_file(&files[4]).unwrap();
        let error = one.check_files().unwrap_err().to_string();
        assert_eq!(error, "the package of `one` lacks [\"docs/asking.md\"]");
        std::fs::remove_dir_all(&home).unwrap();
    }
}
