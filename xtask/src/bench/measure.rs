//! One server under one load, and the checks that like is compared with like.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::plan::{self, Kept, Load, MANY, Subject, name};
use super::samples::Sample;
use super::{Binaries, Effort};
use crate::process::{self, Server};
use crate::tools;

/// The load generator.
const LOADER: &str = "bench-load";

/// Runs the bench's programs, each on its core.
#[derive(Debug)]
pub(super) struct Bench {
    binaries: Binaries,
    effort: Effort,
    pinned: bool,
}

impl Bench {
    /// Pins programs to cores if this machine can.
    pub(super) fn new(binaries: Binaries, effort: Effort) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let pinned = cores > 1 && process::exists(Command::new("taskset").args(["-c", "0,1", "true"]));
        Self { binaries, effort, pinned }
    }

    /// Whether server and loader have a core each.
    pub(super) fn pinned(&self) -> bool {
        self.pinned
    }

    /// Checks what the servers answer, and keeps what the floor sends.
    pub(super) fn prepare(&self) -> Result<Kept> {
        let folder = tools::folder("bench");
        tools::make(&folder)?;
        let kept = Kept { list: folder.join("list.json"), question: folder.join("question.json") };
        let subjects = plan::subjects(&kept);
        let answer = |wanted: &str, ask: &str| -> Result<Vec<u8>> {
            let subject = subjects.iter().find(|one| one.name == wanted);
            self.once(subject.with_context(|| format!("the plan has no {wanted}"))?, ask)
                .with_context(|| format!("{wanted}: {ask}"))
        };

        for many in [name::REJOINDER_MANY, name::REJOINDER_GATED, name::RMCP_MANY] {
            let bytes = answer(many, "list")?;
            let tools = tools_in(&bytes);
            ensure!(tools == MANY, "{many} lists {tools} tools, expected {MANY}");
            if many == name::REJOINDER_MANY {
                std::fs::write(&kept.list, bytes)?;
            }
        }
        std::fs::write(&kept.question, answer(name::REJOINDER_ROUNDS, "question")?)?;
        let ours = answer(name::REJOINDER, "call")?;
        for floor in [name::FLOOR, name::HYPER] {
            let bytes = answer(floor, "call")?;
            ensure!(
                ours == bytes,
                "rejoinder and {floor} answer differently; put our bytes into bench/src/floor.rs\n  rejoinder {}\n  {floor} {}",
                String::from_utf8_lossy(&ours),
                String::from_utf8_lossy(&bytes)
            );
        }
        let (ours, floor) = (answer(name::REJOINDER_STREAM, "stream")?, answer(name::FLOOR, "stream")?);
        ensure!(ours == floor, "rejoinder and the floor stream differently; put our bytes into bench/src/stream.rs");
        for (peer, ask, expected) in [
            (name::REJOINDER, "call", "3"),
            (name::REJOINDER_PARAMETERS, "call", "3"),
            (name::REJOINDER_CALLER, "caller", "3"),
            (name::RMCP, "call", "3"),
            (name::RMCP_ARC, "call", "3"),
            (name::REJOINDER, "session", "3"),
            (name::RMCP_SESSIONS, "session", "3"),
            (name::REJOINDER_ROUNDS, "rounds", "removed photos/2019"),
            (name::RMCP_ROUNDS, "rounds", "removed photos/2019"),
            (name::FLOOR, "rounds", "removed photos/2019"),
        ] {
            let bytes = answer(peer, ask)?;
            let reply = String::from_utf8_lossy(&bytes);
            ensure!(text_in(&bytes).as_deref() == Some(expected), "{peer} does not answer `{expected}`: {reply}");
        }
        Ok(kept)
    }

    /// Starts a server over HTTP and returns its last reply to `ask`.
    fn once(&self, subject: &Subject, ask: &str) -> Result<Vec<u8>> {
        let server = self.start(subject)?;
        let mut command = Command::new(self.binaries.path(LOADER)?);
        process::output(command.args(["once", "--ask", ask, "--http", &server.address.to_string()]))
    }

    /// Starts a server and puts one load on it.
    pub(super) fn measure(&self, subject: &Subject, load: Load, round: usize) -> Result<Sample> {
        self.load(subject, load)
            .and_then(|report| Sample::read(subject.name, load, round, &report))
            .with_context(|| format!("{}: {load}", subject.name))
    }

    /// Runs the loader and returns what it printed.
    fn load(&self, subject: &Subject, load: Load) -> Result<Value> {
        let server = if load.is_stdio() { None } else { Some(self.start(subject)?) };
        let mut command = self.on_core("1", self.binaries.path(LOADER)?);
        command
            .args(subject.loader_arguments(load))
            .args(["--seconds", &self.effort.seconds.to_string()])
            .args(["--warmup", &self.effort.warmup.to_string()]);
        match &server {
            Some(server) => {
                command.args(["--http", &server.address.to_string(), "--pid", &server.pid().to_string()]);
            }
            None => {
                let server = self.server(subject)?;
                command.arg("--").arg(server.get_program()).args(server.get_args());
            }
        }
        let value: Value = serde_json::from_slice(&process::output(&mut command)?)?;
        for trouble in ["non_200", "mismatched"] {
            let count = &value[trouble];
            ensure!(*count == 0, "{count} replies are {trouble}");
        }
        Ok(value)
    }

    /// What a program prints that measures inside its own process, on the server's core.
    pub(super) fn inside(&self, program: &str, arguments: &[&str]) -> Result<Value> {
        let mut command = self.on_core("0", self.binaries.path(program)?);
        let line = process::output(command.args(arguments))?;
        serde_json::from_slice(&line).with_context(|| format!("the output of {program}"))
    }

    /// Starts a server over HTTP.
    fn start(&self, subject: &Subject) -> Result<Server> {
        let mut command = self.server(subject)?;
        Server::start(|address| {
            command.args(["--http", &address.to_string()]).stdout(Stdio::null());
            command
        })
    }

    /// The command that starts a server, but for its address.
    fn server(&self, subject: &Subject) -> Result<Command> {
        let mut command = self.on_core("0", self.binaries.path(subject.program)?);
        command.args(&subject.arguments);
        Ok(command)
    }

    /// A program, pinned to a core; `taskset` becomes the program, so it keeps its process id.
    fn on_core(&self, core: &str, program: &PathBuf) -> Command {
        if !self.pinned {
            return Command::new(program);
        }
        let mut command = Command::new("taskset");
        command.args(["-c", core]).arg(program);
        command
    }
}

/// How many tools a reply to `tools/list` has.
fn tools_in(reply: &[u8]) -> usize {
    serde_json::from_slice::<Value>(reply)
        .ok()
        .and_then(|reply| reply["result"]["tools"].as_array().map(Vec::len))
        .unwrap_or_default()
}

/// The text of a reply to `tools/call`.
fn text_in(reply: &[u8]) -> Option<String> {
    let reply: Value = serde_json::from_slice(reply).ok()?;
    let text = reply["result"]["content"][0]["text"].as_str()?;
    Some(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_replies() {
        assert_eq!(tools_in(br#"{"result":{"tools":[{},{}]}}"#), 2);
        assert_eq!(tools_in(b"no"), 0);
        let reply = br#"{"result":{"content":[{"type":"text","text":"3"}]}}"#;
        assert_eq!(text_in(reply).as_deref(), Some("3"));
        assert_eq!(text_in(br#"{"error":{}}"#), None);
    }
}
