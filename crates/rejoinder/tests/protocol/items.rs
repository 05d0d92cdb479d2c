//! That every item of the protocol has a test.

use std::{collections::BTreeSet, fs, path::Path};

/// The numbers of the items; C40 is a note about what is deprecated.
fn items() -> BTreeSet<u8> {
    (1..=69).filter(|item| *item != 40).collect()
}

/// The items that names of tests in a file begin with: `fn c26_c41_..` is for two of them.
fn tested(code: &str) -> impl Iterator<Item = u8> + '_ {
    code.split("async fn ").chain(code.split("\nfn ")).flat_map(|rest| {
        rest.split('_').map_while(|part| part.strip_prefix('c').filter(|number| number.len() == 2)?.parse().ok())
    })
}

fn sources(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn every_item_has_a_test_that_carries_its_number() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in ["tests", "src/rounds"] {
        sources(&here.join(folder), &mut files);
    }
    let tested: BTreeSet<u8> = files.iter().flat_map(|code| tested(code)).collect();
    assert_eq!(items().difference(&tested).collect::<Vec<_>>(), [] as [&u8; 0], "without a test");
    assert_eq!(tested.difference(&items()).collect::<Vec<_>>(), [] as [&u8; 0], "not an item");
}
