//! What is measured: which servers, what each is asked, and the ratios we want to reach.

use std::fmt;
use std::path::PathBuf;

use super::samples::Ratios;

/// Our own server.
const REJOINDER: &str = "bench-rejoinder";

/// rmcp's.
const RMCP: &str = "bench-rmcp";

/// rmcp's with rounds made by hand.
const RMCP_ROUNDS: &str = "bench-rmcp-rounds";

/// The bare handler, on axum or on hyper.
const FLOOR: &str = "bench-floor";

/// How many tools a server with many has.
pub(super) const MANY: usize = 1000;

/// How many slow calls are open beside those that are measured: 1,024 open files, the usual limit, leave room for these.
pub(super) const SLOW: usize = 950;

/// How many threads of the loader flood a server.
const FLOOD: &str = "4";

/// One way to load a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Load {
    /// `tools/call` of `add` over this many connections.
    Call(usize),
    /// The same, while [`SLOW`] calls wait on connections of their own.
    CallBeside(usize),
    /// `tools/call` of `add` over this many connections, each with an open session of 2025-11-25.
    Session(usize),
    /// `tools/list` over this many connections.
    List(usize),
    /// Calls of `remove`, each a question and its answer, over this many connections.
    Rounds(usize),
    /// `tools/call` of `add` over stdio, this many in flight.
    Stdio(usize),
    /// The same on an open session of 2025-11-25.
    StdioSession(usize),
    /// `tools/call` of `count`, whose reply is a stream of 1,000 items, over this many connections.
    Stream(usize),
    /// The same over stdio, this many in flight.
    StdioStream(usize),
    /// `tools/call` of `add` over one WebSocket, this many in flight.
    WebSocket(usize),
    /// Tasks, each made and looked at until it has ended, over this many connections.
    Task(usize),
}

const CALLS: &[Load] = &[Load::Call(1), Load::Call(16), Load::Call(64)];
const BESIDE: &[Load] = &[Load::CallBeside(16)];
const SESSION: &[Load] = &[Load::Session(16), Load::Session(64)];
const LIST: &[Load] = &[Load::List(16)];
const MANY_TOOLS: &[Load] = &[Load::Call(16), Load::List(16)];
const ROUNDS: &[Load] = &[Load::Rounds(16), Load::Rounds(64)];
const STREAM: &[Load] = &[Load::Stream(4)];
const STDIO_STREAM: &[Load] = &[Load::StdioStream(1), Load::StdioStream(64)];
const WEBSOCKET: &[Load] = &[Load::WebSocket(64)];
const TASKS: &[Load] = &[Load::Task(16), Load::Task(64)];
const STDIO: &[Load] = &[Load::Stdio(1), Load::Stdio(64), Load::StdioSession(1), Load::StdioSession(64)];

/// Every load, in the order in which they are run and reported.
pub(super) fn loads() -> impl Iterator<Item = Load> {
    [CALLS, BESIDE, SESSION, LIST, ROUNDS, TASKS, STREAM, WEBSOCKET, STDIO, STDIO_STREAM].into_iter().flatten().copied()
}

impl fmt::Display for Load {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(1) => write!(out, "tools/call, 1 connection"),
            Self::Call(many) => write!(out, "tools/call, {many} connections"),
            Self::CallBeside(many) => write!(out, "tools/call, {many} connections, beside {SLOW} slow calls"),
            Self::Session(many) => write!(out, "tools/call on a session, {many} connections"),
            Self::List(many) => write!(out, "tools/list, {many} connections"),
            Self::Rounds(many) => write!(out, "calls of two rounds, {many} connections"),
            Self::Stdio(many) => write!(out, "tools/call on stdio, {many} in flight"),
            Self::StdioSession(many) => write!(out, "tools/call on a session, stdio, {many} in flight"),
            Self::Stream(many) => write!(out, "streams of 1,000 items, {many} connections"),
            Self::StdioStream(many) => write!(out, "streams of 1,000 items on stdio, {many} in flight"),
            Self::WebSocket(many) => write!(out, "tools/call over WebSocket, {many} in flight"),
            Self::Task(many) => write!(out, "tasks, {many} connections"),
        }
    }
}

impl Load {
    /// What is counted: a call of two rounds is two requests.
    pub(super) fn unit(self) -> &'static str {
        match self {
            Self::Rounds(_) => "call",
            Self::Task(_) => "task",
            Self::Stream(_) | Self::StdioStream(_) => "stream",
            _ => "request",
        }
    }

    /// Whether the loader starts the server itself.
    pub(super) fn is_stdio(self) -> bool {
        matches!(self, Self::Stdio(_) | Self::StdioSession(_) | Self::StdioStream(_))
    }

    /// What the loader is started with.
    pub(super) fn arguments(self) -> Vec<String> {
        let (words, many) = match self {
            Self::Call(many) => ("http --ask call --connections".to_owned(), many),
            Self::CallBeside(many) => (format!("http --ask call --slow {SLOW} --connections"), many),
            Self::Session(many) => ("http --ask session --connections".to_owned(), many),
            Self::List(many) => ("http --ask list --connections".to_owned(), many),
            Self::Rounds(many) => ("http --ask rounds --connections".to_owned(), many),
            Self::Stdio(many) => ("stdio --depth".to_owned(), many),
            Self::StdioSession(many) => ("stdio --ask session --depth".to_owned(), many),
            Self::Stream(many) => ("http --ask stream --connections".to_owned(), many),
            Self::StdioStream(many) => ("stdio --ask stream --depth".to_owned(), many),
            Self::WebSocket(many) => ("ws --depth".to_owned(), many),
            Self::Task(many) => ("http --ask task --connections".to_owned(), many),
        };
        words.split(' ').map(str::to_owned).chain([many.to_string()]).collect()
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

impl Subject {
    /// What the loader is started with. A server that wants to know its caller gets a token.
    pub(super) fn loader_arguments(&self, load: Load) -> Vec<String> {
        let mut words = load.arguments();
        if self.arguments.iter().any(|word| word == "--caller") {
            words.iter_mut().filter(|word| *word == "call").for_each(|word| "caller".clone_into(word));
        }
        if self.name == name::REJOINDER_TASK_GET {
            words.iter_mut().filter(|word| *word == "call").for_each(|word| "task-get".clone_into(word));
        }
        if self.name == name::REJOINDER_FLOODED {
            words.extend(["--flood", FLOOD].map(str::to_owned));
        }
        words
    }
}

/// Names of subjects.
pub(super) mod name {
    pub(in crate::bench) const REJOINDER: &str = "rejoinder";
    pub(in crate::bench) const REJOINDER_MANY: &str = "rejoinder, 1000 tools";
    pub(in crate::bench) const REJOINDER_GATED: &str = "rejoinder, 1000 tools behind 10 gates";
    pub(in crate::bench) const REJOINDER_CALLER: &str = "rejoinder, a token and a gate";
    pub(in crate::bench) const REJOINDER_FLOODED: &str = "rejoinder, in a flood of large requests";
    pub(in crate::bench) const REJOINDER_SLOW: &str = "rejoinder, with a slow tool";
    pub(in crate::bench) const REJOINDER_PARAMETERS: &str = "rejoinder, parameters from everywhere";
    pub(in crate::bench) const REJOINDER_STREAM: &str = "rejoinder, with a stream";
    pub(in crate::bench) const REJOINDER_WEBSOCKET: &str = "rejoinder, WebSocket";
    pub(in crate::bench) const REJOINDER_STDIO: &str = "rejoinder, stdio";
    pub(in crate::bench) const REJOINDER_STDIO_STREAM: &str = "rejoinder, stdio, with a stream";
    pub(in crate::bench) const REJOINDER_TASKS: &str = "rejoinder, with a task tool";
    pub(in crate::bench) const REJOINDER_TASK_GET: &str = "rejoinder, tasks/get of an ended task";
    pub(in crate::bench) const REJOINDER_SQLITE: &str = "rejoinder, tasks in SQLite";
    pub(in crate::bench) const REJOINDER_ROUNDS: &str = "rejoinder, encrypted state";
    pub(in crate::bench) const RMCP: &str = "rmcp as documented";
    pub(in crate::bench) const RMCP_ARC: &str = "rmcp, shared router";
    pub(in crate::bench) const RMCP_SESSIONS: &str = "rmcp with sessions, as documented";
    pub(in crate::bench) const RMCP_MANY: &str = "rmcp, shared router, 1000 tools";
    pub(in crate::bench) const RMCP_STDIO: &str = "rmcp, stdio()";
    pub(in crate::bench) const RMCP_PIPES: &str = "rmcp, stdio_pipes()";
    pub(in crate::bench) const RMCP_ROUNDS: &str = "rmcp by hand, signed state";
    pub(in crate::bench) const FLOOR: &str = "bare axum";
    pub(in crate::bench) const HYPER: &str = "bare hyper";
    pub(in crate::bench) const TUNGSTENITE: &str = "bare tungstenite";
}

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
        subject(name::REJOINDER, REJOINDER, &["--tools", "1"], &[CALLS, SESSION]),
        subject(name::REJOINDER_FLOODED, REJOINDER, &["--tools", "1"], &[&[Load::Call(16)]]),
        subject(name::RMCP_SESSIONS, RMCP, &["--sessions"], &[SESSION]),
        subject(name::REJOINDER_SLOW, REJOINDER, &["--slow"], &[&[Load::Call(16)], BESIDE]),
        subject(name::REJOINDER_PARAMETERS, REJOINDER, &["--parameters"], &[&[Load::Call(16), Load::Call(64)]]),
        subject(name::REJOINDER_CALLER, REJOINDER, &["--caller"], &[&[Load::Call(16), Load::Call(64)]]),
        subject(name::REJOINDER_STREAM, REJOINDER, &["--stream"], &[STREAM]),
        subject(name::FLOOR, FLOOR, &["--list", &list, "--question", &question], &[CALLS, LIST, ROUNDS, STREAM]),
        subject(name::REJOINDER_WEBSOCKET, REJOINDER, &["--ws"], &[WEBSOCKET]),
        subject(name::TUNGSTENITE, FLOOR, &["--ws"], &[WEBSOCKET]),
        subject(name::HYPER, FLOOR, &["--hyper"], &[CALLS]),
        subject(name::REJOINDER_MANY, REJOINDER, &["--tools", &many], &[MANY_TOOLS]),
        subject(name::REJOINDER_GATED, REJOINDER, &["--tools", &many, "--gated"], &[LIST]),
        subject(name::RMCP_MANY, RMCP, &["--arc", "--tools", &many], &[MANY_TOOLS]),
        subject(name::RMCP_ROUNDS, RMCP_ROUNDS, &[], &[ROUNDS]),
        subject(name::REJOINDER_ROUNDS, REJOINDER, &["--asking"], &[ROUNDS]),
        subject(name::REJOINDER_TASKS, REJOINDER, &["--tasks"], &[&[Load::Call(16), Load::Call(64)], TASKS]),
        subject(name::REJOINDER_TASK_GET, REJOINDER, &["--tasks"], &[&[Load::Call(16)]]),
        subject(name::REJOINDER_SQLITE, REJOINDER, &["--tasks", "--sqlite"], &[TASKS]),
        subject(name::RMCP_STDIO, RMCP, &["--stdio"], &[STDIO]),
        subject(name::REJOINDER_STDIO, REJOINDER, &["--stdio"], &[STDIO]),
        subject(name::REJOINDER_STDIO_STREAM, REJOINDER, &["--stdio", "--stream"], &[STDIO_STREAM]),
        subject(name::RMCP_PIPES, RMCP, &["--stdio-pipes"], &[STDIO]),
    ]
}

/// A comparison, and the least ratio, of processor time and of requests per second, that meets its target.
#[derive(Debug)]
pub(super) struct Comparison {
    /// The server that should be cheap.
    pub(super) subject: &'static str,
    /// The one it is compared with.
    pub(super) peer: &'static str,
    /// Under which load.
    pub(super) load: Load,
    /// The target; none where the ratio is shown for information.
    pub(super) at_least: Option<f64>,
}

/// Of a bare handler that sends the same bytes.
const OF_FLOOR: Option<f64> = Some(0.9);

/// Times the peer used as its documentation shows.
const TIMES_DOCUMENTED: Option<f64> = Some(4.0);

/// Times the peer at its best.
const TIMES_BEST: Option<f64> = Some(3.0);

/// Of a bare handler that sends the same list: at most 1.2 times its cost.
const OF_LIST: Option<f64> = Some(1.0 / 1.2);

/// Times the peer that makes its rounds by hand, and only signs where we encrypt.
const TIMES_BY_HAND: Option<f64> = Some(2.5);

/// Times the peer's own session server.
const TIMES_SESSIONS: Option<f64> = Some(2.0);

/// Of the same tool with plain parameters: three constraints, a pipe, a header and a state cost at most 1.15 times as much.
const OF_PLAIN: Option<f64> = Some(1.0 / 1.15);

/// Of the same call without a caller: a token that was verified before, and a gate, cost at most 1.3 times as much.
const OF_ANONYMOUS: Option<f64> = Some(1.0 / 1.3);

/// Of the same list without gates: ten gates cost at most 1.5 times as much.
const OF_UNGATED: Option<f64> = Some(1.0 / 1.5);

/// Of a bare stream of the same events.
const OF_STREAM: Option<f64> = Some(0.7);

/// Not slower.
const LEVEL: Option<f64> = Some(1.0);

/// A thousand tools may cost this much of one tool's speed, which is what the machine's noise allows to see.
const FLAT: Option<f64> = Some(0.95);

/// Of the same server without a tool that runs as a task.
const OF_NO_TASKS: Option<f64> = Some(0.98);

/// Of a call of `add`: looking at an ended task reads it from memory.
const OF_CALL: Option<f64> = Some(0.8);

/// Every comparison of the report.
///
/// With one connection, or one request in flight, waking up costs more than the work, so the only target there is not to
/// be slower than the faster peer on stdio.
pub(super) const COMPARISONS: &[Comparison] = &[
    compare(name::REJOINDER, name::FLOOR, Load::Call(1), None),
    compare(name::REJOINDER, name::FLOOR, Load::Call(16), OF_FLOOR),
    compare(name::REJOINDER, name::FLOOR, Load::Call(64), OF_FLOOR),
    compare(name::REJOINDER, name::HYPER, Load::Call(16), None),
    compare(name::REJOINDER, name::HYPER, Load::Call(64), None),
    compare(name::REJOINDER, name::RMCP, Load::Call(1), None),
    compare(name::REJOINDER, name::RMCP, Load::Call(16), TIMES_DOCUMENTED),
    compare(name::REJOINDER, name::RMCP, Load::Call(64), TIMES_DOCUMENTED),
    compare(name::REJOINDER, name::RMCP_ARC, Load::Call(1), None),
    compare(name::REJOINDER, name::RMCP_ARC, Load::Call(16), TIMES_BEST),
    compare(name::REJOINDER, name::RMCP_ARC, Load::Call(64), TIMES_BEST),
    compare(name::REJOINDER, name::RMCP_SESSIONS, Load::Session(16), TIMES_SESSIONS),
    compare(name::REJOINDER, name::RMCP_SESSIONS, Load::Session(64), TIMES_SESSIONS),
    compare(name::REJOINDER_FLOODED, name::REJOINDER, Load::Call(16), None),
    compare(name::REJOINDER_MANY, name::REJOINDER, Load::Call(16), FLAT),
    compare(name::RMCP_MANY, name::RMCP_ARC, Load::Call(16), None),
    compare(name::REJOINDER_MANY, name::FLOOR, Load::List(16), OF_LIST),
    compare(name::REJOINDER_MANY, name::RMCP_MANY, Load::List(16), None),
    compare(name::REJOINDER_ROUNDS, name::RMCP_ROUNDS, Load::Rounds(16), TIMES_BY_HAND),
    compare(name::REJOINDER_ROUNDS, name::RMCP_ROUNDS, Load::Rounds(64), TIMES_BY_HAND),
    compare(name::FLOOR, name::RMCP_ROUNDS, Load::Rounds(16), None),
    compare(name::FLOOR, name::RMCP_ROUNDS, Load::Rounds(64), None),
    compare(name::REJOINDER_PARAMETERS, name::REJOINDER, Load::Call(16), OF_PLAIN),
    compare(name::REJOINDER_PARAMETERS, name::REJOINDER, Load::Call(64), OF_PLAIN),
    compare(name::REJOINDER_CALLER, name::REJOINDER, Load::Call(16), OF_ANONYMOUS),
    compare(name::REJOINDER_CALLER, name::REJOINDER, Load::Call(64), OF_ANONYMOUS),
    compare(name::REJOINDER_TASKS, name::REJOINDER, Load::Call(16), OF_NO_TASKS),
    compare(name::REJOINDER_TASKS, name::REJOINDER, Load::Call(64), OF_NO_TASKS),
    compare(name::REJOINDER_TASK_GET, name::REJOINDER, Load::Call(16), OF_CALL),
    compare(name::REJOINDER_SQLITE, name::REJOINDER_TASKS, Load::Task(16), None),
    compare(name::REJOINDER_SQLITE, name::REJOINDER_TASKS, Load::Task(64), None),
    compare(name::REJOINDER_GATED, name::REJOINDER_MANY, Load::List(16), OF_UNGATED),
    compare(name::REJOINDER_STREAM, name::FLOOR, Load::Stream(4), OF_STREAM),
    compare(name::REJOINDER_WEBSOCKET, name::TUNGSTENITE, Load::WebSocket(64), OF_FLOOR),
    compare(name::REJOINDER_STDIO, name::RMCP_STDIO, Load::Stdio(1), None),
    compare(name::REJOINDER_STDIO, name::RMCP_STDIO, Load::Stdio(64), TIMES_DOCUMENTED),
    compare(name::REJOINDER_STDIO, name::RMCP_PIPES, Load::Stdio(1), LEVEL),
    compare(name::REJOINDER_STDIO, name::RMCP_PIPES, Load::Stdio(64), TIMES_DOCUMENTED),
    compare(name::REJOINDER_STDIO, name::RMCP_STDIO, Load::StdioSession(1), None),
    compare(name::REJOINDER_STDIO, name::RMCP_STDIO, Load::StdioSession(64), TIMES_SESSIONS),
    compare(name::REJOINDER_STDIO, name::RMCP_PIPES, Load::StdioSession(1), LEVEL),
    compare(name::REJOINDER_STDIO, name::RMCP_PIPES, Load::StdioSession(64), TIMES_SESSIONS),
];

const fn compare(subject: &'static str, peer: &'static str, load: Load, at_least: Option<f64>) -> Comparison {
    Comparison { subject, peer, load, at_least }
}

impl Comparison {
    /// The word for what was measured: cheap and slow is not enough.
    pub(super) fn verdict(&self, Ratios { cpu, rate }: &Ratios) -> &'static str {
        match self.at_least {
            None => "",
            Some(least) if cpu.low.min(rate.low) >= least => "met",
            Some(least) if cpu.median.min(rate.median) >= least => "at the line",
            Some(_) => "MISSED",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::samples::Estimate;

    #[test]
    fn everything_compared_is_measured() {
        let subjects = subjects(&Kept { list: "list".into(), question: "question".into() });
        for one in COMPARISONS {
            for wanted in [one.subject, one.peer] {
                let found = subjects.iter().find(|subject| subject.name == wanted);
                let loads = found.map(|subject| subject.loads.as_slice()).unwrap_or_default();
                assert!(loads.contains(&one.load), "{wanted}: {}", one.load);
            }
        }
    }

    #[test]
    fn a_target_is_met_when_the_lower_ends_of_both_intervals_reach_it() {
        let estimate = |low, median| Estimate { median, low, high: 2.0 };
        let one = compare(name::REJOINDER, name::FLOOR, Load::Call(16), OF_FLOOR);
        for (cpu, rate, expected) in [
            ((0.9, 1.0), (0.9, 1.0), "met"),
            ((0.89, 1.0), (0.9, 1.0), "at the line"),
            ((0.9, 1.0), (0.8, 0.9), "at the line"),
            ((0.9, 1.0), (0.8, 0.89), "MISSED"),
            ((0.8, 0.89), (0.9, 1.0), "MISSED"),
        ] {
            let ratios = Ratios { cpu: estimate(cpu.0, cpu.1), rate: estimate(rate.0, rate.1) };
            assert_eq!(one.verdict(&ratios), expected, "{ratios:?}");
        }
        let none = estimate(0.1, 0.1);
        assert_eq!(COMPARISONS[0].verdict(&Ratios { cpu: none, rate: none }), "");
    }

    #[test]
    fn the_loader_gets_words() {
        assert_eq!(Load::StdioSession(64).arguments(), ["stdio", "--ask", "session", "--depth", "64"]);
        let subjects = subjects(&Kept { list: "list".into(), question: "question".into() });
        for (name, ask) in [(name::REJOINDER, "call"), (name::REJOINDER_CALLER, "caller")] {
            let subject = subjects.iter().find(|one| one.name == name).expect("it is in the plan");
            assert_eq!(subject.loader_arguments(Load::Call(16)), ["http", "--ask", ask, "--connections", "16"]);
        }
    }
}
