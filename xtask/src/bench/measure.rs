//! One server under one load.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::plan::{Load, SLOW, Subject};
use super::samples::Sample;
use super::{Binaries, Effort};
use crate::process::{self, Server};

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

    /// Starts a server over HTTP.
    pub(super) fn start(&self, subject: &Subject) -> Result<Server> {
        let words = self.on_core("0", subject)?;
        Server::start(|address| {
            let mut command = Command::new(&words[0]);
            command.args(&words[1..]).args(["--http", &address.to_string()]).stdout(Stdio::null());
            command
        })
    }

    /// The body with which a server answers `ask` (`call`, `list` or `rounds`) in the end.
    pub(super) fn once(&self, server: &Server, ask: &str) -> Result<Vec<u8>> {
        let mut command = Command::new(self.binaries.path(LOADER)?);
        command.args(["once", "--ask", ask, "--http", &server.address.to_string()]);
        process::output(&mut command)
    }

    /// Starts a server and puts one load on it.
    pub(super) fn measure(&self, subject: &Subject, load: Load, round: usize) -> Result<Sample> {
        let server = match load {
            Load::Stdio(_) => None,
            _ => Some(self.start(subject)?),
        };
        self.load(subject, load, server.as_ref())
            .and_then(|report| Sample::read(subject.name, load, round, &report))
            .with_context(|| format!("{}: {load}", subject.name))
    }

    /// Runs the loader; what it printed.
    fn load(&self, subject: &Subject, load: Load, server: Option<&Server>) -> Result<Value> {
        let mut command = if self.pinned {
            let mut command = Command::new("taskset");
            command.args(["-c", "1"]).arg(self.binaries.path(LOADER)?);
            command
        } else {
            Command::new(self.binaries.path(LOADER)?)
        };
        match (load, server) {
            (Load::Stdio(depth), _) => command.args(["stdio", "--depth", &depth.to_string()]),
            (
                Load::Call(connections)
                | Load::CallBeside(connections)
                | Load::List(connections)
                | Load::Rounds(connections)
                | Load::RoundsAwake(connections),
                Some(server),
            ) => {
                let ask = match load {
                    Load::List(_) => "list",
                    Load::Rounds(_) | Load::RoundsAwake(_) => "rounds",
                    Load::Call(_) | Load::CallBeside(_) | Load::Stdio(_) => "call",
                };
                command
                    .args(["http", "--ask", ask])
                    .args(["--connections", &connections.to_string()])
                    .args(["--http", &server.address.to_string()])
                    .args(["--pid", &server.pid().to_string()])
            }
            (_, None) => anyhow::bail!("a server over HTTP was not started"),
        };
        match load {
            Load::RoundsAwake(_) => command.arg("--awake"),
            Load::CallBeside(_) => command.args(["--slow", &SLOW.to_string()]),
            _ => &mut command,
        };
        command
            .args(["--seconds", &self.effort.seconds.to_string()])
            .args(["--warmup", &self.effort.warmup.to_string()]);
        if server.is_none() {
            command.arg("--").args(self.on_core("0", subject)?);
        }
        let line = process::output(&mut command)?;
        let value: Value = serde_json::from_slice(&line)?;
        for trouble in ["non_200", "mismatched"] {
            let count = &value[trouble];
            ensure!(*count == 0, "{count} replies are {trouble}");
        }
        Ok(value)
    }

    /// What a program prints that measures inside its own process, on the server's core.
    pub(super) fn inside(&self, program: &str, arguments: &[&str]) -> Result<Value> {
        let path = self.binaries.path(program)?;
        let mut command = if self.pinned {
            let mut command = Command::new("taskset");
            command.args(["-c", "0"]).arg(path);
            command
        } else {
            Command::new(path)
        };
        let line = process::output(command.args(arguments))?;
        serde_json::from_slice(&line).with_context(|| format!("what {program} printed"))
    }

    /// The command line of a subject, pinned to a core; `taskset` becomes the program, so its process id is the
    /// server's.
    fn on_core(&self, core: &str, subject: &Subject) -> Result<Vec<String>> {
        let program = self.binaries.path(subject.program)?;
        let mut words: Vec<String> = Vec::new();
        if self.pinned {
            words.extend(["taskset", "-c", core].map(str::to_owned));
        }
        words.push(program.to_string_lossy().into_owned());
        words.extend(subject.arguments.iter().cloned());
        Ok(words)
    }
}
