//! Imports point one way: transport -> protocol -> server -> rounds -> the rest. Functions are reached only through the door
//! (`server/door.rs`): transports and the protocol name neither items nor the graph of resolvers.

use std::{fs, path::Path};

/// Each room, and the rooms that it must not name. The protocol writes the output of items, but does not run them.
const FORBIDDEN: [(&str, &[&str]); 4] = [
    ("rounds", &["server", "protocol", "transport", "testing"]),
    ("server", &["protocol", "transport", "testing"]),
    ("protocol", &["transport", "testing", "graph", "inject"]),
    ("transport", &["testing", "graph", "item"]),
];

fn source_files(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).expect("the room is there").map(|entry| entry.expect("readable").path());
    entries.flat_map(|path| if path.is_dir() { source_files(&path) } else { vec![path] }).collect()
}

/// Names, and the signs between them.
fn tokens(code: &str) -> Vec<&str> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut tokens = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            c if is_name(c) => rest.find(|c| !is_name(c)).unwrap_or(rest.len()),
            ':' if rest.starts_with("::") => 2,
            c => c.len_utf8(),
        };
        tokens.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    tokens
}

/// Every path that begins at the crate, at this module or at the one around it, with its groups taken apart.
fn paths(code: &str) -> Vec<Vec<&str>> {
    let tokens = tokens(code);
    let (mut found, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        if matches!(tokens[at], "crate" | "super" | "self") {
            at = tree(&tokens, at, &mut Vec::new(), &mut found);
        } else {
            at += 1;
        }
    }
    found
}

/// Reads a path with its groups; where it ends.
fn tree<'c>(tokens: &[&'c str], mut at: usize, path: &mut Vec<&'c str>, found: &mut Vec<Vec<&'c str>>) -> usize {
    let depth = path.len();
    loop {
        match tokens.get(at) {
            Some(&"{") => {
                at += 1;
                while tokens.get(at).is_some_and(|token| *token != "}") {
                    at = tree(tokens, at, path, found);
                    at += usize::from(tokens.get(at) == Some(&","));
                }
                at += 1;
                break;
            }
            Some(name) => path.push(name),
            None => break,
        }
        at += 1;
        if tokens.get(at) != Some(&"::") {
            // Under another name the root would be out of sight.
            if tokens.get(at) == Some(&"as") {
                path.push("as");
                at += 2;
            }
            found.push(path.clone());
            break;
        }
        at += 1;
    }
    path.truncate(depth);
    at
}

/// The room that a path leads to from a module, or `*` and `as` where it takes in the whole house.
fn room<'c>(module: &[&str], path: &[&'c str]) -> Option<&'c str> {
    let mut depth = module.len();
    let mut path = path.iter();
    loop {
        match *path.next()? {
            "crate" => depth = 0,
            "super" => depth = depth.saturating_sub(1),
            "self" => {}
            name => return (depth == 0).then_some(name),
        }
    }
}

/// The rooms that code in a module leads to.
fn rooms<'c>(module: &[&str], code: &'c str) -> Vec<&'c str> {
    paths(code).iter().filter_map(|path| room(module, path)).collect()
}

/// The module of a file, by its path below `src`.
fn module(path: &Path) -> Vec<&str> {
    let mut module: Vec<_> = path.iter().map(|part| part.to_str().expect("text")).collect();
    let name = module.pop().expect("a file").trim_end_matches(".rs");
    module.extend((name != "mod").then_some(name));
    module
}

#[test]
fn rooms_import_only_from_rooms_below() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    for (room, forbidden) in FORBIDDEN {
        let files = source_files(&source.join(room));
        assert!(!files.is_empty(), "{room} has no files");
        for file in files {
            let text = fs::read_to_string(&file).expect("text");
            // Documentation may point anywhere.
            let code = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
            let below = file.strip_prefix(&source).expect("in the sources");
            for above in rooms(&module(below), &code) {
                if forbidden.contains(&above) || matches!(above, "*" | "as") {
                    wrong.push(format!("{} imports from {above}", below.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_kind_of_import_is_found() {
    let inside = ["rounds", "seal"];
    for code in [
        "use crate::server::Engine;",
        "use crate::{rounds::Round, server::{Engine, Hub}};",
        "use {crate::server};",
        "use super::super::server::Engine;",
        "use super::{Round, super::{protocol::Reply, server::Engine}};",
        "use self::super::super::server;",
        "fn f(engine: &crate :: server\n::Engine) {}",
        "fn f() { super::super::server::start() }",
    ] {
        assert!(rooms(&inside, code).contains(&"server"), "{code}");
    }
    for whole in ["use crate::*;", "use super::super::*;", "use crate as house;", "use crate::{self as house};"] {
        assert!(rooms(&inside, whole).iter().any(|room| matches!(*room, "*" | "as")), "{whole}");
    }
    for other in [
        "use super::server::Round;",
        "use super::*;",
        "use self::server::Round;",
        "use other::{server::Engine};",
        "pub(crate) fn server() {}",
        "fn f(&self) { self.server.start() }",
    ] {
        assert!(!rooms(&inside, other).iter().any(|room| matches!(*room, "server" | "*" | "as")), "{other}");
    }
}
