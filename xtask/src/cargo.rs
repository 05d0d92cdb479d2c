//! Calling cargo.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::{process, tools};

/// The cargo that runs us, in the root of the checkout.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let mut command = Command::new(cargo);
    command.args(arguments).current_dir(tools::root());
    command
}

/// The same with 1,024 open files, the usual limit: what passes here passes on a machine with that limit, and a machine with
/// a lower one passes too.
pub(crate) fn with_usual_limit(arguments: &[&str]) -> Command {
    let cargo = command(arguments);
    if !cfg!(unix) {
        return cargo;
    }
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -S -n 1024 && exec \"$@\"", "sh"]).arg(cargo.get_program()).args(cargo.get_args());
    limited.current_dir(tools::root());
    limited
}

/// Builds the binaries of a package with that profile, and returns their paths.
///
/// Cargo reports the paths: a guess would be wrong with another target folder.
pub(crate) fn build(package: &str, profile: &str) -> Result<BTreeMap<String, PathBuf>> {
    let messages = process::output(&mut command(&[
        "build",
        "--locked",
        "--profile",
        profile,
        "--bins",
        "--package",
        package,
        "--message-format=json-render-diagnostics",
    ]))?;
    executables(&String::from_utf8_lossy(&messages)).with_context(|| format!("the output of cargo for {package}"))
}

/// Finds the binaries in cargo's messages, a JSON value on each line.
fn executables(messages: &str) -> Result<BTreeMap<String, PathBuf>> {
    let mut found = BTreeMap::new();
    for line in messages.lines() {
        let message: Value = serde_json::from_str(line)?;
        if let (Some(path), Some(name)) = (message["executable"].as_str(), message["target"]["name"].as_str()) {
            found.insert(name.to_owned(), path.into());
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tests must pass with the limit that most machines have, whatever this one has.
    #[cfg(unix)]
    #[test]
    fn tests_run_with_the_usual_limit_of_open_files() {
        let limited = with_usual_limit(&["nextest", "run"]);
        let words: Vec<_> = limited.get_args().map(|word| word.to_string_lossy()).collect();
        assert_eq!(words[words.len() - 2..], ["nextest", "run"]);
        let script = words[1].replace("exec \"$@\"", "ulimit -n");
        let limit = Command::new("sh").args(["-c", &script]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&limit.stdout), "1024\n");
    }

    #[test]
    fn only_what_can_be_executed_is_found() {
        let messages = concat!(
            r#"{"reason":"compiler-artifact","target":{"name":"lib"},"executable":null}"#,
            "\n",
            r#"{"reason":"compiler-artifact","target":{"name":"tool"},"executable":"/t/tool"}"#,
            "\n",
            r#"{"reason":"build-finished","success":true}"#,
        );
        let found = executables(messages).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found["tool"], PathBuf::from("/t/tool"));
    }
}
