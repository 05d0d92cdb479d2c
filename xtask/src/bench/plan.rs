//! What is measured: which servers, and what each is asked.

use std::fmt;
use std::path::PathBuf;

/// Our own server.
pub(super) const REJOINDER: &str = "bench-rejoinder";

/// rmcp's.
pub(super) const RMCP: &str = "bench-rmcp";

/// rmcp's with rounds made by hand.
pub(super) const RMCP_ROUNDS: &str = "bench-rmcp-rounds";

/// The bare handler.
pub(super) const FLOOR: &str = "bench-floor";

/// How many tools a server with many has.
pub(super) const MANY: usize = 1000;

/// How many slow calls are open beside those that are measured: what 1,024 open files, the usual limit, leave room for.
pub(super) const SLOW: usize = 950;

/// One way to load a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Load {
    /// `tools/call` of `add` over this many connections.
    Call(usize),
    /// The same, while [`SLOW`] calls wait on connections of their own.
    CallBeside(usize),
    /// `tools/list` over this many connections.
    List(usize),
    /// Calls of `remove`, each a question and its answer, over this many connections.
    Rounds(usize),
    /// The same from a loader that never sleeps: to wake the other end of a connection costs the server processor time,
    /// more so on a virtual machine, which says nothing about either server.
    RoundsAwake(usize),
    /// `tools/call` of `add` over stdio, this many in flight.
    Stdio(usize),
}

/// Every load, in the order in which they are run and reported.
pub(super) fn loads() -> impl Iterator<Item = Load> {
    [CALLS, BESIDE, LIST, ROUNDS, STDIO].into_iter().flatten().copied()
}

impl fmt::Display for Load {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(1) => write!(out, "tools/call, 1 connection"),
            Self::Call(many) => write!(out, "tools/call, {many} connections"),
            Self::CallBeside(many) => write!(out, "tools/call, {many} connections, beside {SLOW} slow calls"),
            Self::List(many) => write!(out, "tools/list, {many} connections"),
            Self::Rounds(many) => write!(out, "calls of two rounds, {many} connections"),
            Self::RoundsAwake(many) => write!(out, "calls of two rounds, {many} connections, the loader never asleep"),
            Self::Stdio(many) => write!(out, "tools/call on stdio, {many} in flight"),
        }
    }
}

impl Load {
    /// What is counted: a call of two rounds is two requests.
    pub(super) fn unit(self) -> &'static str {
        match self {
            Self::Rounds(_) | Self::RoundsAwake(_) => "call",
            Self::Call(_) | Self::CallBeside(_) | Self::List(_) | Self::Stdio(_) => "request",
        }
    }
}

/// A server as it is started, and the loads it gets.
#[derive(Debug, Clone)]
pub(super) struct Subject {
    /// What the report calls it.
    pub(super) name: &'static str,
    /// Its binary.
    pub(super) program: &'static str,
    /// Its arguments, but for the address.
    pub(super) arguments: Vec<String>,
    /// What it is asked.
    pub(super) loads: Vec<Load>,
}

/// Names of subjects that are compared: see `targets`.
pub(super) mod name {
    pub(in crate::bench) const REJOINDER: &str = "rejoinder";
    pub(in crate::bench) const REJOINDER_MANY: &str = "rejoinder, 1000 tools";
    pub(in crate::bench) const REJOINDER_SLOW: &str = "rejoinder, with a slow tool";
    pub(in crate::bench) const REJOINDER_STDIO: &str = "rejoinder, stdio";
    pub(in crate::bench) const REJOINDER_ROUNDS: &str = "rejoinder, encrypted state";
    pub(in crate::bench) const RMCP: &str = "rmcp as documented";
    pub(in crate::bench) const RMCP_ARC: &str = "rmcp, shared router";
    pub(in crate::bench) const RMCP_MANY: &str = "rmcp, shared router, 1000 tools";
    pub(in crate::bench) const RMCP_STDIO: &str = "rmcp, stdio()";
    pub(in crate::bench) const RMCP_PIPES: &str = "rmcp, stdio_pipes()";
    pub(in crate::bench) const RMCP_ROUNDS: &str = "rmcp by hand, signed state";
    pub(in crate::bench) const FLOOR: &str = "bare axum";
}

const CALLS: &[Load] = &[Load::Call(1), Load::Call(16), Load::Call(64)];
const BESIDE: &[Load] = &[Load::CallBeside(16)];
const LIST: &[Load] = &[Load::List(16)];
const MANY_TOOLS: &[Load] = &[Load::Call(16), Load::List(16)];
const ROUNDS: &[Load] = &[Load::Rounds(16), Load::Rounds(64), Load::RoundsAwake(16)];
const STDIO: &[Load] = &[Load::Stdio(1), Load::Stdio(64)];

/// The files of bytes that the floor sends as they are.
#[derive(Debug)]
pub(super) struct Kept {
    /// Our `tools/list`.
    pub(super) list: PathBuf,
    /// Our reply to the first round of a call.
    pub(super) question: PathBuf,
}

/// Every server, ours between those it is compared with.
pub(super) fn subjects(kept: &Kept) -> Vec<Subject> {
    let subject = |name, program, arguments: &[&str], loads: &[&[Load]]| Subject {
        name,
        program,
        arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
        loads: loads.concat(),
    };
    let (list, question) = (kept.list.to_string_lossy(), kept.question.to_string_lossy());
    let many = MANY.to_string();
    vec![
        subject(name::RMCP, RMCP, &[], &[CALLS]),
        subject(name::RMCP_ARC, RMCP, &["--arc"], &[CALLS]),
        subject(name::REJOINDER, REJOINDER, &["--tools", "1"], &[CALLS]),
        subject(name::REJOINDER_SLOW, REJOINDER, &["--slow"], &[&[Load::Call(16)], BESIDE]),
        subject(name::FLOOR, FLOOR, &["--list", &list, "--question", &question], &[CALLS, LIST, ROUNDS]),
        subject(name::REJOINDER_MANY, REJOINDER, &["--tools", &many], &[MANY_TOOLS]),
        subject(name::RMCP_MANY, RMCP, &["--arc", "--tools", &many], &[MANY_TOOLS]),
        subject(name::RMCP_ROUNDS, RMCP_ROUNDS, &[], &[ROUNDS]),
        subject(name::REJOINDER_ROUNDS, REJOINDER, &["--asking"], &[ROUNDS]),
        subject(name::RMCP_STDIO, RMCP, &["--stdio"], &[STDIO]),
        subject(name::REJOINDER_STDIO, REJOINDER, &["--stdio"], &[STDIO]),
        subject(name::RMCP_PIPES, RMCP, &["--stdio-pipes"], &[STDIO]),
    ]
}
