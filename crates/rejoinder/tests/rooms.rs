//! Imports point one way: transport -> protocol -> server -> core.

use std::{fs, path::Path};

/// Each room, and the rooms that nothing in it may name.
const FORBIDDEN: [(&str, &[&str]); 3] = [
    ("server", &["protocol", "transport", "testing"]),
    ("protocol", &["transport", "testing"]),
    ("transport", &["testing"]),
];

fn source_files(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).expect("the room is there").map(|entry| entry.expect("readable").path());
    entries.flat_map(|path| if path.is_dir() { source_files(&path) } else { vec![path] }).collect()
}

#[test]
fn no_room_imports_from_a_room_above_it() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    for (room, forbidden) in FORBIDDEN {
        let files = source_files(&source.join(room));
        assert!(!files.is_empty(), "{room} has no files");
        for file in files {
            let text = fs::read_to_string(&file).expect("text");
            // Documentation may point anywhere.
            let code = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
            let compact: String = code.split_whitespace().collect();
            for above in forbidden {
                let named = compact.contains(&format!("crate::{above}"));
                let grouped = compact.split("usecrate::{").skip(1).any(|group| {
                    let group = group.split("};").next().unwrap_or_default();
                    group.split(['{', ',', '}']).any(|name| name.starts_with(&format!("{above}::")) || name == *above)
                });
                if named || grouped {
                    wrong.push(format!("{} imports from {above}", file.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_core_knows_no_network() {
    let manifest = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../rejoinder-core/Cargo.toml"));
    let manifest = manifest.expect("the core has a manifest");
    for network in ["axum", "hyper", "tower", "\nrejoinder ", "\nrejoinder.", "\"net\""] {
        assert!(!manifest.contains(network), "the core must not need {network}");
    }
}
