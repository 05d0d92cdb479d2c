//! The list of scenarios that are still expected to fail, each with its reason.
//!
//! ```text
//! # a comment
//! tasks-lifecycle    # tasks are not built yet
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail};

/// Scenario names and why they are expected to fail.
pub(super) type Expected = BTreeMap<String, String>;

/// Reads the file; one that is not there lists nothing.
pub(super) fn read(file: &Path) -> Result<Expected> {
    if !file.exists() {
        return Ok(Expected::new());
    }
    let text = std::fs::read_to_string(file)?;
    parse(&text).with_context(|| format!("reading {}", file.display()))
}

/// Reads the lines. An entry without a reason is refused: nobody could tell later whether it may go.
fn parse(text: &str) -> Result<Expected> {
    let mut expected = Expected::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (name, reason) = line.split_once('#').unwrap_or((line, ""));
        let (name, reason) = (name.trim(), reason.trim());
        if reason.is_empty() {
            bail!("line {number}: `{name}` needs a reason: `{name}  # why`");
        }
        if expected.insert(name.to_owned(), reason.to_owned()).is_some() {
            bail!("line {number}: `{name}` is listed twice");
        }
    }
    Ok(expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_carry_their_reasons() {
        let expected = parse("# head\n\ntasks-lifecycle  # no tasks yet\nping # odd\n").unwrap();
        assert_eq!(expected.len(), 2);
        assert_eq!(expected["tasks-lifecycle"], "no tasks yet");
    }

    #[test]
    fn an_entry_without_a_reason_is_refused() {
        let error = parse("ping # odd\npong\n").unwrap_err().to_string();
        assert_eq!(error, "line 2: `pong` needs a reason: `pong  # why`");
    }

    #[test]
    fn an_entry_stands_once() {
        assert!(parse("ping # odd\nping # even\n").is_err());
    }

    #[test]
    fn no_file_lists_nothing() {
        assert!(read(Path::new("no/such/file")).unwrap().is_empty());
    }
}
