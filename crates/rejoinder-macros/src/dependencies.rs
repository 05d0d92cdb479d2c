//! The names under which a program knows its dependencies: those that its manifest gives them.

use std::{env, fs, path::Path, sync::LazyLock};

/// Whether a dependency of the program that is being compiled has that name in it.
pub(crate) fn is_named(name: &str) -> bool {
    static MANIFEST: LazyLock<String> = LazyLock::new(|| {
        let manifest = env::var_os("CARGO_MANIFEST_DIR").map(|dir| Path::new(&dir).join("Cargo.toml"));
        manifest.and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default()
    });
    names(&MANIFEST).any(|known| known.replace('-', "_") == name)
}

/// The keys of the tables of dependencies. It reads what people write, not all that TOML allows: one that is missed is
/// told by the compiler, which then says what to write.
fn names(manifest: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    manifest.lines().filter_map(move |line| {
        let line = line.trim();
        let Some(header) = line.strip_prefix('[') else {
            let key = line.split(['=', '.']).next().filter(|_| inside)?;
            return Some(key.trim().trim_matches('"')).filter(|key| !key.is_empty() && !key.starts_with('#'));
        };
        let header = header.split(']').next().unwrap_or_default().trim();
        inside = header.ends_with("dependencies");
        let (table, name) = header.rsplit_once('.')?;
        (!inside && table.ends_with("dependencies")).then_some(name.trim().trim_matches('"'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_in_tables_of_dependencies() {
        let manifest = r#"
            [package]
            name = "shop"

            [dependencies]
            # why = "not"
            json = { package = "serde_json", version = "1" }
            tokio.workspace = true
            "quoted-name" = "1"

            [features]
            default = []

            [dev-dependencies.renamed]
            package = "insta"

            [target.'cfg(unix)'.dependencies]
            nix = "1"
        "#;
        assert_eq!(names(manifest).collect::<Vec<_>>(), ["json", "tokio", "quoted-name", "renamed", "nix"]);
    }
}
