//! Faults on real processes: their tasks go on, and nothing is lost or done twice.
//!
//! `rejoinder-faults FAULT.. | all [--short] [--out FILE]`. It starts itself as worker processes: a server with tools that
//! become tasks, on one keeper. The driver kills, freezes and stops them while clients follow tasks over HTTP, and counts in a
//! log, to which every effect of a step is appended, what ran how often.

#[cfg(unix)]
mod client;
#[cfg(unix)]
mod faults;
#[cfg(unix)]
mod fleet;
#[cfg(unix)]
mod keeper;
#[cfg(unix)]
mod lossy;
#[cfg(unix)]
mod process;
#[cfg(unix)]
mod program;
#[cfg(unix)]
mod report;
#[cfg(unix)]
mod verdict;
#[cfg(unix)]
mod worker;
#[cfg(unix)]
mod world;

#[cfg(unix)]
fn main() -> anyhow::Result<std::process::ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    match &words[..] {
        [worker, setup] if worker == "worker" => {
            runtime.block_on(worker::run(setup)).map(|()| std::process::ExitCode::SUCCESS)
        }
        _ => runtime.block_on(report::run(words)),
    }
}

/// What is done to processes here needs the signals of Unix.
#[cfg(not(unix))]
fn main() {
    eprintln!("faults are tried on Unix only");
}
