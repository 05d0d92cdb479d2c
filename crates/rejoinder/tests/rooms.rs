//! The architecture: imports point one way, calls are reached through the door only, and a type name means one thing.

use std::{collections::BTreeMap, fs, path::Path};

/// From the bottom to the top. A room imports from its own row and from the rows before it.
const ROOMS: [&[&str]; 6] = [
    &["ask", "auth", "call", "error", "form", "graph", "inject", "item", "reply", "schema"],
    &["rounds"],
    &["server"],
    &["protocol"],
    &["transport"],
    &["testing"],
];

/// What runs a call. `protocol` and `transport` go through `Engine::start` and its types instead.
const BEHIND_THE_DOOR: [&str; 7] =
    ["graph::", "item::", "registry::", "Call::new(", "Call::carried(", ".function()", ".entry(TargetKind"];

/// Path and code of every source file, without comments and unit tests.
fn sources(folder: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("readable").path());
    let entries = entries.filter(|path| path.is_dir() || path.extension().is_some_and(|extension| extension == "rs"));
    let entries = entries.filter(|path| !path.ends_with("tests") && !path.ends_with("tests.rs"));
    let files = entries.flat_map(|path| {
        if path.is_dir() {
            return sources(&path);
        }
        let text = fs::read_to_string(&path).expect("text");
        let text = text.replace("#[cfg(test)]\npub(super) mod ", "#[cfg(test)]\nmod ");
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        let code = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
        vec![(path.display().to_string(), code)]
    });
    files.collect()
}

fn sources_of(room: &str) -> Vec<(String, String)> {
    let found = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(room));
    assert!(!found.is_empty(), "{room} has no files");
    found
}

/// Whether a path in the code begins with that module of the crate.
fn names_module(code: &str, module: &str) -> bool {
    let begins_path = |at: usize| {
        let before = &code[..at];
        before.ends_with("crate::") || !before.ends_with(|c: char| matches!(c, ':' | '_' | '`') || c.is_alphanumeric())
    };
    // A module may have one of that name below it.
    let is_below = code.contains(&format!("\nmod {module};"));
    let begins = !is_below && code.match_indices(&format!("{module}::")).any(|(at, _)| begins_path(at));
    begins || code.contains(&format!("crate::{module}"))
}

#[test]
fn imports_point_one_way() {
    let mut wrong = Vec::new();
    for (row, rooms) in ROOMS.iter().enumerate() {
        let above = ROOMS[row + 1..].concat();
        for (path, code) in rooms.iter().flat_map(|room| sources_of(room)) {
            let found = above.iter().filter(|room| names_module(&code, room)).copied();
            // Other ways to the root would hide which room is meant.
            let hidden =
                ["crate::*", "crate as ", "super::super::super::"].into_iter().filter(|way| code.contains(way));
            wrong.extend(found.chain(hidden).map(|name| format!("{path} imports `{name}`")));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn calls_are_reached_through_the_door() {
    let mut wrong = Vec::new();
    for (path, code) in ["protocol", "transport"].into_iter().flat_map(sources_of) {
        // What a call returns is a type of the door.
        let code = code.replace("item::Output", "");
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
    for library in ["rejoinder", "rejoinder-macros", "rejoinder-cli"] {
        for (path, code) in sources(&crates.join(library).join("src")) {
            for name in code.lines().filter_map(defined_type) {
                defined.entry(name.to_owned()).or_default().push(path.clone());
            }
        }
    }
    defined.retain(|_, paths| paths.len() > 1);
    assert!(defined.is_empty(), "{defined:#?}");
}

#[test]
fn a_module_is_found_wherever_a_path_begins_with_it() {
    for code in [
        "use crate::server::Engine;",
        "use crate::{\n    rounds::Round,\n    server::{Engine, Hub},\n};",
        "use crate::server;",
        "fn f(engine: &crate::server::Engine) {}",
        "use crate::{server, rounds}; fn f() { server::start() }",
    ] {
        assert!(names_module(code, "server"), "{code}");
    }
    for code in
        ["use super::server::Round;", "use other::server::Engine;", "self.server.start()", "mcp_server::start()"]
    {
        assert!(!names_module(code, "server"), "{code}");
    }
}
