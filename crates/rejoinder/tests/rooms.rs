//! The architecture: imports point one way, calls are reached through the door only, and a type name means one thing.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// From the bottom to the top: folders, and files at the root. A room imports only rooms before it.
const ROOMS: [&str; 23] = [
    "error",
    "schema",
    "auth",
    "tasks",
    "request",
    "form",
    "argument",
    "ask",
    "call",
    "reply",
    "inject",
    "graph",
    "item",
    "rounds",
    "server",
    "protocol",
    "transport",
    "testing",
    "http",
    "attributes",
    "__private",
    "guide",
    // Its names are the crate's own: `crate::Server`.
    "lib",
];

/// Shows what users import.
const PRELUDE: &str = "prelude";

/// A crate below all rooms, under the name that users write.
const WIRE: &str = "model";

/// What a server runs, and in the crate below what a client is shown of it: `Tool` and `model::Tool`.
const RUN_AND_SHOWN: [&str; 3] = ["Prompt", "Resource", "Tool"];

/// What runs a call. `protocol` and `transport` go through `Engine::start` and its types instead.
const BEHIND_THE_DOOR: [&str; 7] =
    ["graph::", "item::", "registry::", "Call::new(", ".carry(", ".function()", ".entry(TargetKind"];

/// Path and code of every source file, without comments and unit tests.
fn sources(path: &Path) -> Vec<(String, String)> {
    if path.is_dir() {
        let entries = fs::read_dir(path).expect("a folder").map(|entry| entry.expect("readable").path());
        return entries.flat_map(|path| sources(&path)).collect();
    }
    let is_test = path.ends_with("tests.rs") || path.parent().is_some_and(|parent| parent.ends_with("tests"));
    if is_test || path.extension().is_none_or(|extension| extension != "rs") {
        return Vec::new();
    }
    let text = fs::read_to_string(path).expect("text");
    let text = text.replace("#[cfg(test)]\npub(super) mod ", "#[cfg(test)]\nmod ");
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let code = code.split("\nmod tests {").next().unwrap_or_default();
    let code = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    vec![(path.display().to_string(), code)]
}

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn sources_of(room: &str) -> Vec<(String, String)> {
    let folder = src().join(room);
    let found = sources(&if folder.is_dir() { folder } else { folder.with_extension("rs") });
    assert!(!found.is_empty(), "{room} has no files");
    found
}

fn first_name(path: &str) -> &str {
    path.trim_start().split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

/// The first names of all paths that begin with `crate::`.
fn imported(code: &str) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for (at, root) in code.match_indices("crate::") {
        let after = &code[at + root.len()..];
        names.insert(first_name(after));
        let Some(tree) = after.strip_prefix('{') else { continue };
        names.insert(first_name(tree));
        let mut depth = 0;
        for (at, sign) in tree.match_indices(['{', ',', '}']) {
            match sign {
                "{" => depth += 1,
                "," if depth == 0 => drop(names.insert(first_name(&tree[at + 1..]))),
                "}" if depth == 0 => break,
                "}" => depth -= 1,
                _ => {}
            }
        }
    }
    names.remove("");
    names
}

#[test]
fn imports_point_one_way() {
    let mut wrong = Vec::new();
    for (row, room) in ROOMS.iter().enumerate() {
        for (path, code) in sources_of(room) {
            let above = imported(&code).into_iter().filter(|name| !ROOMS[..=row].contains(name) && *name != WIRE);
            wrong.extend(above.map(|name| format!("{path} imports `{name}`")));
            // Other ways to the root would hide which room is meant.
            let below_src = Path::new(&path).strip_prefix(src()).expect("it is there");
            let depth = below_src.components().count() - usize::from(path.ends_with("/mod.rs"));
            let to_root = "super::".repeat(depth);
            let hidden = ["crate::*", "crate as ", "use rejoinder::", &to_root];
            wrong.extend(hidden.into_iter().filter(|way| code.contains(way)).map(|way| format!("{path} has `{way}`")));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_room_has_its_place() {
    let entries = fs::read_dir(src()).expect("a folder").map(|entry| entry.expect("readable").path());
    let found: BTreeSet<_> = entries.map(|path| path.file_stem().expect("a name").display().to_string()).collect();
    let known: BTreeSet<_> = ROOMS.iter().chain([&PRELUDE]).map(ToString::to_string).collect();
    assert_eq!(found, known);
}

#[test]
fn calls_are_reached_through_the_door() {
    let mut wrong = Vec::new();
    for (path, code) in ["protocol", "transport"].into_iter().flat_map(sources_of) {
        let found = BEHIND_THE_DOOR.into_iter().filter(|name| code.contains(name));
        wrong.extend(found.map(|name| format!("{path} uses `{name}`")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The type that a line begins to define.
fn defined_type(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = ["pub(crate) ", "pub(super) ", "pub "].iter().find_map(|word| line.strip_prefix(word)).unwrap_or(line);
    let name = ["struct ", "enum ", "trait "].iter().find_map(|word| line.strip_prefix(word))?;
    let name = name.split(|c: char| !c.is_alphanumeric()).next()?;
    name.starts_with(char::is_uppercase).then_some(name)
}

#[test]
fn a_type_name_means_one_thing() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the folder of crates");
    let mut defined: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for library in ["rejoinder", "rejoinder-macros", "rejoinder-cli", "rejoinder-sqlite", "rejoinder-wire"] {
        for (path, code) in sources(&crates.join(library).join("src")) {
            for name in code.lines().filter_map(defined_type) {
                defined.entry(name.to_owned()).or_default().push(path.clone());
            }
        }
    }
    defined.retain(|_, paths| paths.len() > 1);
    let twice = RUN_AND_SHOWN.map(|name| defined.remove(name).map_or(0, |paths| paths.len()));
    assert!(defined.is_empty(), "{defined:#?}");
    assert_eq!(twice, [2; 3], "{RUN_AND_SHOWN:?}");
}

#[test]
fn a_room_is_found_wherever_a_path_begins_with_it() {
    for code in [
        "use crate::server::Engine;",
        "use crate::{\n    rounds::Round,\n    server::{Engine, Hub},\n};",
        "use crate::server;",
        "fn f(engine: &crate::server::Engine) {}",
        "use crate::{server, rounds}; fn f() { server::start() }",
        "$crate::server::start!()",
    ] {
        assert!(imported(code).contains("server"), "{code}");
    }
    for code in ["use super::server::Round;", "use server::Engine;", "use crate::call::{Call, server::Engine};"] {
        assert!(!imported(code).contains("server"), "{code}");
    }
}
