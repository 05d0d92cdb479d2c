//! Which crates' types are in our public signatures: an incompatible version of such a crate makes one of ours necessary.
//!
//! rustdoc writes what is public as JSON. That is not stable, but it is exact, and only this file depends on it.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::{cargo, process};

/// The libraries that are checked. The macros have only functions from tokens to tokens.
const LIBRARIES: [&str; 3] = ["rejoinder-wire", "rejoinder", "rejoinder-sqlite"];

/// Crates whose types may be in public signatures, as they name themselves, with those of their crates that define the types.
const ALLOWED: [&str; 21] = [
    // The language, and our own.
    "alloc",
    "core",
    "std",
    "rejoinder",
    "rejoinder_macros",
    "rejoinder_wire",
    // For everybody.
    "bytes",
    "futures_core",
    "http",
    // The trait of bodies beside `http`: a service of tower has it in its signature.
    "http_body",
    "schemars",
    "serde",
    "serde_core",
    "serde_json",
    "tokio",
    "tokio_util",
    "tower_layer",
    "tower_service",
    // Behind their features. (clap's own crate only shows what its builder defines.)
    "chrono",
    "clap_builder",
    "uuid",
];

/// Set in the environment of cargo when this program is to be its rustdoc.
const AS_RUSTDOC: &str = "REJOINDER_XTASK_AS_RUSTDOC";

/// Types of crates that are not allowed, and the public items that name them.
type Leaks = BTreeMap<String, BTreeSet<String>>;

/// Checks every library.
pub(crate) fn check() -> Result<()> {
    let metadata = process::output(&mut cargo::command(&["metadata", "--locked", "--no-deps", "--format-version=1"]))?;
    let metadata: Value = serde_json::from_slice(&metadata).context("the output of `cargo metadata`")?;
    let target = metadata["target_directory"].as_str().context("no target directory")?;
    for library in LIBRARIES {
        let mut doc =
            cargo::command(&["rustdoc", "--locked", "--quiet", "--lib", "--all-features", "--package", library]);
        doc.args(["--", "-Z", "unstable-options", "--output-format", "json"]);
        process::run(doc.env("RUSTDOC", std::env::current_exe()?).env(AS_RUSTDOC, "1"))?;
        let file = format!("{target}/doc/{}.json", library.replace('-', "_"));
        let text = std::fs::read(&file).with_context(|| format!("reading {file}"))?;
        let leaks = leaks(&serde_json::from_slice(&text).with_context(|| format!("the JSON in {file}"))?)?;
        ensure!(leaks.is_empty(), "types of other crates in the public signatures of {library}:\n{}", listed(&leaks));
    }
    Ok(())
}

/// Runs the real rustdoc if cargo calls this program in its place.
///
/// Only rustdoc must take unstable flags: with `RUSTC_BOOTSTRAP` in cargo's own environment, the build scripts of dependencies
/// would see another compiler, and everything would be compiled again.
pub(crate) fn as_rustdoc() -> Option<ExitCode> {
    std::env::var_os(AS_RUSTDOC)?;
    let status = Command::new("rustdoc").args(std::env::args_os().skip(1)).env("RUSTC_BOOTSTRAP", "1").status();
    Some(if status.is_ok_and(|status| status.success()) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What rustdoc's JSON names that is neither allowed nor our own.
fn leaks(doc: &Value) -> Result<Leaks> {
    let index = doc["index"].as_object().context("rustdoc's JSON has no index")?;
    ensure!(doc["paths"].is_object() && doc["external_crates"].is_object(), "rustdoc's JSON has no paths or crates");
    let mut leaks = Leaks::new();
    let mut seen = BTreeSet::new();
    let mut next = vec![doc["root"].to_string()];
    while let Some(id) = next.pop() {
        let Some(item) = index.get(&id).filter(|item| item["crate_id"] == 0 && seen.insert(id.clone())) else {
            continue;
        };
        // What the compiler or another crate implements for every type.
        let implementation = &item["inner"]["impl"];
        if implementation["is_synthetic"] == true || !implementation["blanket_impl"].is_null() {
            continue;
        }
        let mut named = Vec::new();
        ids(&item["inner"], &mut named);
        for path in named.iter().filter_map(|id| foreign(doc, id)) {
            leaks.entry(path).or_default().insert(place(doc, &id, item));
        }
        next.extend(named);
    }
    ensure!(seen.len() > 1, "rustdoc's JSON has no items: another version of rustdoc writes it differently");
    Ok(leaks)
}

/// The ids of everything that an item names: its parts, which are lists of ids, and the types and traits of its signature, which
/// are objects with an `id` and what the author wrote: the `path` of a type or a trait, the `source` of a `use`.
fn ids(inner: &Value, found: &mut Vec<String>) {
    match inner {
        Value::Object(members) => {
            let is_path = members.contains_key("path") || members.contains_key("source");
            found.extend(members.get("id").filter(|id| is_path && id.is_number()).map(ToString::to_string));
            members.values().for_each(|member| ids(member, found));
        }
        Value::Array(values) => {
            found.extend(values.iter().filter(|value| value.is_number()).map(ToString::to_string));
            values.iter().for_each(|value| ids(value, found));
        }
        _ => {}
    }
}

/// The path of what has this id, if it is of a crate that is not allowed.
fn foreign(doc: &Value, id: &str) -> Option<String> {
    let of = &doc["paths"][id];
    let krate = of["crate_id"].as_u64().filter(|krate| *krate != 0)?;
    let name = doc["external_crates"][krate.to_string()]["name"].as_str().unwrap_or("a crate without a name");
    (!ALLOWED.contains(&name)).then(|| path(of).unwrap_or_else(|| name.to_owned()))
}

fn path(of: &Value) -> Option<String> {
    let parts: Option<Vec<&str>> = of["path"].as_array()?.iter().map(Value::as_str).collect();
    parts.map(|parts| parts.join("::"))
}

/// Where an item is: its name, and its file and line.
fn place(doc: &Value, id: &str, item: &Value) -> String {
    let name = path(&doc["paths"][id]).or_else(|| item["name"].as_str().map(str::to_owned));
    let (file, line) = (item["span"]["filename"].as_str().unwrap_or("?"), &item["span"]["begin"][0]);
    format!("{}, {file}:{line}", name.as_deref().unwrap_or("an `impl`"))
}

/// A line for each type and for each place that names it.
fn listed(leaks: &Leaks) -> String {
    let lines = leaks.iter().flat_map(|(of, places)| {
        let places = places.iter().map(|place| format!("    {place}"));
        std::iter::once(format!("  {of}")).chain(places)
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A library with one function, which has this inner JSON; 7 is a type of hyper, 8 one of http, 9 one of its own.
    fn library(inner: &Value) -> Value {
        json!({
            "root": 0,
            "index": {
                "0": { "crate_id": 0, "name": "ours", "inner": { "module": { "items": [1, 2] } } },
                "1": { "crate_id": 0, "name": "serve", "span": { "filename": "src/lib.rs", "begin": [3, 1] }, "inner": inner },
                "2": { "crate_id": 4, "name": "other", "inner": { "resolved_path": { "path": "Body", "id": 7 } } },
                "3": { "crate_id": 0, "name": "hidden", "inner": { "resolved_path": { "path": "Body", "id": 7 } } },
            },
            "paths": {
                "1": { "crate_id": 0, "path": ["ours", "serve"], "kind": "function" },
                "7": { "crate_id": 4, "path": ["hyper", "body", "Incoming"], "kind": "struct" },
                "8": { "crate_id": 5, "path": ["http", "Request"], "kind": "struct" },
                "9": { "crate_id": 0, "path": ["ours", "Server"], "kind": "struct" },
            },
            "external_crates": { "4": { "name": "hyper" }, "5": { "name": "http" } },
        })
    }

    fn of(path: &str, id: u32, arguments: &Value) -> Value {
        json!({ "resolved_path": { "path": path, "id": id, "args": { "angle_bracketed": { "args": [{ "type": arguments }] } } } })
    }

    #[test]
    fn a_type_of_another_crate_is_found_wherever_it_is_named() {
        let incoming = of("Incoming", 7, &json!(null));
        let function =
            |input: &Value| json!({ "function": { "sig": { "inputs": [["request", input]], "output": null } } });
        for inner in [
            function(&incoming),
            function(&json!({ "borrowed_ref": { "type": of("Request", 8, &incoming) } })),
            json!({ "impl": { "trait": { "path": "Body", "id": 7 }, "for": of("Server", 9, &json!(null)), "blanket_impl": null } }),
            json!({ "use": { "source": "hyper::body::Incoming", "name": "Body", "id": 7, "is_glob": false } }),
            json!({ "type_alias": { "generics": { "params": [{ "bounds": [{ "trait_bound": { "trait": { "path": "Body", "id": 7 } } }] }] } } }),
        ] {
            let leaks = leaks(&library(&inner)).unwrap();
            assert_eq!(listed(&leaks), "  hyper::body::Incoming\n    ours::serve, src/lib.rs:3", "{inner}");
        }
    }

    #[test]
    fn our_own_types_and_those_that_are_allowed_are_no_leaks() {
        let allowed = json!({ "function": { "sig": { "inputs": [["request", of("Request", 8, &of("Server", 9, &json!(null)))]] } } });
        let blanket = json!({ "impl": { "trait": { "path": "Body", "id": 7 }, "blanket_impl": { "generic": "T" } } });
        let automatic =
            json!({ "impl": { "trait": { "path": "Body", "id": 7 }, "is_synthetic": true, "blanket_impl": null } });
        for inner in [allowed, blanket, automatic] {
            assert_eq!(leaks(&library(&inner)).unwrap(), Leaks::new(), "{inner}");
        }
    }

    #[test]
    fn what_rustdoc_does_not_write_is_an_error() {
        assert!(leaks(&json!({})).is_err());
        assert!(leaks(&json!({ "index": {}, "paths": {}, "external_crates": {} })).is_err());
    }
}
