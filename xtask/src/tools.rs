//! Where things are, and what has been installed there.
//!
//! Tools of other ecosystems live in `.tools/` of the checkout, which git ignores. Each is installed by its chore the
//! first time it is needed, and again when the wanted version changes: a stamp file tells.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Name of the stamp file inside an installed tool's folder.
const STAMP: &str = ".installed";

/// The root of the checkout.
pub(crate) fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// The folder of the tool `name`.
pub(crate) fn folder(name: &str) -> PathBuf {
    root().join(".tools").join(name)
}

/// Runs `install` unless `folder` says that exactly `wanted` was installed there.
///
/// The stamp is written last, so that an install that broke off is done again.
pub(crate) fn ensure(folder: &Path, wanted: &str, install: impl FnOnce() -> Result<()>) -> Result<()> {
    let stamp = folder.join(STAMP);
    if std::fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        return Ok(());
    }
    make(folder)?;
    install()?;
    std::fs::write(&stamp, wanted).with_context(|| format!("writing {}", stamp.display()))
}

/// Makes a folder and those above it.
pub(crate) fn make(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::bail;

    #[test]
    fn installs_once_for_each_version_and_again_after_a_failure() {
        let folder = std::env::temp_dir().join(format!("xtask-tools-{}", std::process::id()));
        let mut installs = 0;
        let mut wants = |wanted: &str, works: bool| {
            ensure(&folder, wanted, || {
                installs += 1;
                if works { Ok(()) } else { bail!("no") }
            })
            .is_ok()
        };
        assert!(!wants("1", false));
        assert!(wants("1", true));
        assert!(wants("1", true));
        assert!(wants("2", true));
        assert_eq!(installs, 3);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
