//! Runs faults, and says what they came to.

use std::{
    fmt::Write,
    path::PathBuf,
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use tokio::time::timeout;

use crate::{
    faults::{self, Effort},
    keeper::Keeper,
    verdict::Outcome,
};

/// How long a fault may take, in short and as a whole. It ends what hangs.
const LONGEST: [Duration; 2] = [Duration::from_secs(3 * 60), Duration::from_secs(10 * 60)];

/// A fault that was run.
struct Done {
    name: &'static str,
    outcome: Outcome,
    took: Duration,
}

/// Runs the faults of the command line.
pub(crate) async fn run(mut words: Vec<String>) -> Result<ExitCode> {
    let is_short = take(&mut words, "--short").is_some();
    let out = take(&mut words, "--out").map(|at| words.remove(at)).map(PathBuf::from);
    let effort = if is_short { Effort::Short } else { Effort::Whole };
    let is_named = |name: &&&str| words.iter().any(|word| word == **name || word == "all");
    let names: Vec<_> = faults::ALL.iter().filter(is_named).copied().collect();
    ensure!(!names.is_empty(), "name faults: all, or some of {}", faults::ALL.join(", "));
    let mut loads: Vec<_> = load().into_iter().collect();
    let mut done = Vec::new();
    for name in names {
        let began = Instant::now();
        let longest = LONGEST[effort.of(0, 1)];
        let outcome = match timeout(longest, faults::run(name, effort)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(anyhow::anyhow!("it did not end within {} s", longest.as_secs())),
        };
        // What a fault cannot do is a problem like others: the page says so.
        let outcome = outcome.unwrap_or_else(|error| {
            let tried = "it stopped before its end".to_owned();
            Outcome { tried, others: vec![format!("{error:#}")], ..Outcome::default() }
        });
        let one = Done { name, outcome, took: began.elapsed() };
        println!("{}", one.line());
        done.push(one);
        loads.extend(load());
        if let Some(out) = &out {
            std::fs::write(out, page(&done, &loads)).with_context(|| format!("writing {}", out.display()))?;
        }
    }
    let fails = done.iter().any(|one| !one.outcome.problems().is_empty());
    Ok(if fails { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn take(words: &mut Vec<String>, flag: &str) -> Option<usize> {
    let at = words.iter().position(|word| word == flag)?;
    words.remove(at);
    (flag != "--out" || at < words.len()).then_some(at)
}

/// How many processes waited for a core in the last minute, where the system says so.
fn load() -> Option<f64> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}

fn median(all: &[Duration]) -> Duration {
    let mut sorted = all.to_vec();
    sorted.sort();
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

fn seconds(duration: Duration) -> String {
    format!("{:.2} s", duration.as_secs_f64())
}

impl Done {
    /// For people who watch.
    fn line(&self) -> String {
        let Outcome { times, tasks, effects, in_flight, repeated, recoveries, .. } = &self.outcome;
        let mut line = format!(
            "{}: {times} times, {tasks} tasks, {effects} effects, {in_flight} of them again, {repeated} requests repeated, {}",
            self.name,
            seconds(self.took)
        );
        for (after, all) in recoveries {
            let worst = all.iter().max().copied().unwrap_or_default();
            let _ = write!(
                line,
                "\n  {after}: {} times, median {}, worst {}",
                all.len(),
                seconds(median(all)),
                seconds(worst)
            );
        }
        for problem in self.outcome.problems() {
            let _ = write!(line, "\n  DOES NOT HOLD: {problem}");
        }
        line
    }
}

/// The page.
fn page(done: &[Done], loads: &[f64]) -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut out = format!(
        "# Faults\n\nWritten by `cargo xtask faults`. Keeper: {}. {cores} cores; real processes, release build.\n",
        Keeper::NAME
    );
    if let Some(before) = loads.first().filter(|before| **before > 0.5) {
        let _ = writeln!(
            out,
            "**The machine did other work meanwhile** (load {before:.1} before the first fault), so the times are upper bounds."
        );
    }
    out.push_str(INTRODUCTION);
    out.push_str("| fault | times | tasks | lost | recorded steps twice | second ends | acknowledged answers unused | else wrong | effects of steps | in flight, again |\n");
    out.push_str("|---|---|---|---|---|---|---|---|---|---|\n");
    for Done { outcome: one, .. } in done {
        let bad = [&one.lost, &one.twice, &one.ends, &one.unused, &one.others].map(Vec::len);
        let bad = bad.map(|count| if count == 0 { "0".to_owned() } else { format!("**{count}**") }).join(" | ");
        let Outcome { tried, times, tasks, effects, in_flight, .. } = one;
        let _ = writeln!(out, "| {tried} | {times} | {tasks} | {bad} | {effects} | {in_flight} |");
    }
    out.push_str("\n## How long it took until tasks went on\n\n");
    out.push_str("| after | times | median | worst |\n|---|---|---|---|\n");
    for one in done {
        for (after, all) in &one.outcome.recoveries {
            let worst = all.iter().max().copied().unwrap_or_default();
            let (name, median) = (one.name, median(all));
            let _ = writeln!(out, "| {name}: {after} | {} | {} | {} |", all.len(), seconds(median), seconds(worst));
        }
    }
    out.push_str("\n## What does not hold\n\n");
    let problems: Vec<_> =
        done.iter().flat_map(|one| one.outcome.problems().into_iter().map(move |what| (one.name, what))).collect();
    if problems.is_empty() {
        out.push_str("Nothing was found.\n");
    }
    for (name, what) in problems {
        let _ = writeln!(out, "* {name}: {what}");
    }
    out.push_str(LIMITS);
    out
}

const INTRODUCTION: &str = "
Each task has two steps, a question and a third step. Every effect of a step is a line in a log outside of the processes, \
with the idempotency key of the step. After each fault: every task that a client has seen has reached its end, with the answer \
that was acknowledged and the values that its steps recorded; no step that was recorded has run again; the end is the same in \
every process. A step that was in flight when its process died may run again, with the same idempotency key: the last column \
counts these. Nothing here asserts on time: the times below are only shown.

## What was tried

";

const LIMITS: &str = "
What is known to be limited:

* A process that is frozen in the middle of a write holds the lock of the SQLite file. Until it goes on or is killed no other \
process writes: tasks do not go on elsewhere, and requests that write get HTTP 503. Nothing is lost. Where the worst time of a \
freeze under load is that of the whole freeze, this is why.
* A live process that is taken for dead, because the clock of another one is ahead by more than a lease, hears of it by its next \
beat, within two seconds. A step that it begins until then may run there and elsewhere. Its result is refused. So it is when the clock of the machine jumps ahead, as after it was suspended. The fault waits for the beat.
* A task that kills its process takes the runs of other tasks there with it. A task that records no step while this happens \
three times fails, as the one that kills.
* A disk without room is tried with a limit on the size of files, so the error is one of input and output instead of that of a \
full disk, which the tests of the store have.
";
