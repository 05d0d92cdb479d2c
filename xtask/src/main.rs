//! The project's chores, the same for people and for CI: `cargo xtask help`.

mod bench;
mod cargo;
mod ci;
mod conformance;
mod faults;
mod lines;
mod package;
mod process;
mod public_types;
mod tools;

use std::collections::VecDeque;
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};

const HELP: &str = "\
cargo xtask COMMAND

  test [FILTER]..            set everything up and run every test, the conformance suite included;
                             with filters only the tests whose names contain one of them
  lint                       formatting, clippy, rustdoc and public types; warnings are errors
  public-types               the crates whose types are in our public signatures, of which only some are allowed
  package                    every public crate as it would be published, built from its package
  ci                         lint, test, then package
  python                     make the Python environment the tests compare with; prints its interpreter
  conformance [--out DIR]    the official MCP suite against our fixture server
  bench [--quick] [--build]  side-by-side bench of load and of building, or of building only;
                             writes bench/RESULTS.md unless --quick
  faults                     kills, freezes and stops processes that run tasks, for up to 15 minutes, and
                             writes bench/FAULTS.md; `test` tries each fault once
  lines                      lines of code by crate and room, without comments, blank lines and unit tests
  help                       this page
";

fn main() -> ExitCode {
    if let Some(code) = public_types::as_rustdoc() {
        return code;
    }
    match run(Words::from_args()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Carries out one command.
fn run(mut words: Words) -> Result<()> {
    if words.flag("--help") || words.flag("-h") {
        print!("{HELP}");
        return Ok(());
    }
    let command = words.next_word();
    match command.as_deref() {
        Some("test") => ci::test(&words.filters()?),
        Some("lint") => {
            words.end()?;
            ci::lint()
        }
        Some("ci") => {
            words.end()?;
            ci::lint()?;
            ci::test(&[])?;
            package::run()
        }
        Some("python") => {
            words.end()?;
            println!("{}", tools::python()?.display());
            Ok(())
        }
        Some("conformance") => conformance::run(&conformance::Options::parse(words)?),
        Some("bench") => bench::run(&bench::Options::parse(words)?),
        Some("faults") => {
            words.end()?;
            faults::run()
        }
        Some("public-types") => {
            words.end()?;
            public_types::check()
        }
        Some("package") => {
            words.end()?;
            package::run()
        }
        Some("lines") => {
            words.end()?;
            lines::run()
        }
        Some("help") => {
            print!("{HELP}");
            Ok(())
        }
        Some(other) => bail!("unknown command `{other}`\n\n{HELP}"),
        None => bail!("no command given\n\n{HELP}"),
    }
}

/// What is left of the command line. A parser crate would cost more to compile than it saves to write.
#[derive(Debug)]
pub(crate) struct Words(VecDeque<String>);

impl Words {
    /// The words behind the program's own name.
    pub(crate) fn from_args() -> Self {
        Self(std::env::args().skip(1).collect())
    }

    /// Takes the next word.
    pub(crate) fn next_word(&mut self) -> Option<String> {
        self.0.pop_front()
    }

    /// Takes the flag `name`, at any position; whether it was there.
    pub(crate) fn flag(&mut self, name: &str) -> bool {
        let at = self.0.iter().position(|word| word == name);
        at.and_then(|at| self.0.remove(at)).is_some()
    }

    /// Takes `name VALUE`, at any position.
    pub(crate) fn value(&mut self, name: &str) -> Result<Option<String>> {
        let Some(at) = self.0.iter().position(|word| word == name) else {
            return Ok(None);
        };
        self.0.remove(at);
        let value = self.0.remove(at);
        value.map(Some).with_context(|| format!("{name} needs a value"))
    }

    /// Takes all that is left, none of which may be a flag.
    pub(crate) fn filters(self) -> Result<Vec<String>> {
        let flag = self.0.iter().find(|word| word.starts_with('-'));
        ensure!(flag.is_none(), "unknown flag `{}`\n\n{HELP}", flag.map_or("", String::as_str));
        Ok(self.0.into())
    }

    /// Makes sure that nothing is left.
    pub(crate) fn end(&self) -> Result<()> {
        let rest: Vec<&str> = self.0.iter().map(String::as_str).collect();
        ensure!(rest.is_empty(), "unexpected arguments: {}", rest.join(" "));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Words {
        Words(line.split(' ').map(str::to_owned).collect())
    }

    #[test]
    fn flags_and_values_may_come_in_any_order() {
        let mut words = words("--quick --out here");
        assert_eq!(words.value("--out").unwrap().as_deref(), Some("here"));
        assert!(words.flag("--quick"));
        assert!(!words.flag("--quick"));
        words.end().unwrap();
    }

    #[test]
    fn unexpected_arguments_are_named() {
        let error = words("--fast now").end().unwrap_err().to_string();
        assert_eq!(error, "unexpected arguments: --fast now");
    }

    #[test]
    fn filters_are_not_flags() {
        assert_eq!(words("gates wiring").filters().unwrap(), ["gates", "wiring"]);
        assert!(words("gates --fast").filters().unwrap_err().to_string().starts_with("unknown flag `--fast`"));
    }

    #[test]
    fn a_missing_value_is_an_error() {
        assert!(words("--out").value("--out").is_err());
    }
}
