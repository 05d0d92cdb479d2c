//! The project's chores, the same for people and for CI: `cargo xtask help`.

mod bench;
mod cargo;
mod conformance;
mod lint;
mod process;
mod python;
mod steps;
mod tests;
mod tools;
mod words;

use std::process::ExitCode;

use anyhow::{Result, bail};
use words::Words;

const HELP: &str = "\
cargo xtask COMMAND

  test                       set everything up and run every test, the conformance suite included
  lint                       formatting, clippy and rustdoc, warnings refused; type-checks the fuzz target
  ci                         lint, then test
  python                     make the Python environment the tests compare with; prints its interpreter
  conformance [--out DIR]    the official MCP suite against our fixture server
  bench [--quick]            side-by-side load bench; writes bench/RESULTS.md unless --quick
  help                       this page
";

fn main() -> ExitCode {
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
    let command = words.next_word();
    match command.as_deref() {
        Some("test") => {
            words.end()?;
            tests::run()
        }
        Some("lint") => {
            words.end()?;
            lint::run()
        }
        Some("ci") => {
            words.end()?;
            lint::run()?;
            tests::run()
        }
        Some("python") => {
            words.end()?;
            println!("{}", python::interpreter()?.display());
            Ok(())
        }
        Some("conformance") => conformance::run(&conformance::Options::parse(words)?),
        Some("bench") => bench::run(&bench::Options::parse(words)?),
        Some("help" | "--help" | "-h") => {
            print!("{HELP}");
            Ok(())
        }
        Some(other) => bail!("there is no command `{other}`\n\n{HELP}"),
        None => bail!("which command?\n\n{HELP}"),
    }
}
