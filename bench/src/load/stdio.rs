//! Load over a child's standard input and output, with a fixed number of requests in flight.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use super::report::{Report, Tally, Window};
use crate::session;
use crate::wire::{self, Ask, Reply};

/// As many requests and replies as surely fit into the pipes: more, and both sides could wait to write.
const MOST_IN_FLIGHT: usize = 128;

/// What a notification begins with; a reply has its id there.
const NOTIFICATION: &[u8] = br#"{"jsonrpc":"2.0","method":"#;

/// Starts `command` and loads it, `depth` requests in flight.
///
/// # Errors
///
/// When the child cannot be started, ends early or writes something that is not a reply.
pub fn run(command: &[String], depth: usize, ask: Ask, window: Window) -> Result<Report> {
    ensure!((1..=MOST_IN_FLIGHT).contains(&depth), "from 1 to {MOST_IN_FLIGHT} requests can be in flight");
    let (program, arguments) = command.split_first().context("which server to start?")?;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("`{program}` cannot be started"))?;
    let report = drive(&mut child, depth, ask, window);
    // It may have ended by itself, which is what killing it is for.
    let _ = child.kill();
    child.wait()?;
    report
}

/// Keeps `depth` requests in flight until the window closes.
fn drive(child: &mut Child, depth: usize, ask: Ask, window: Window) -> Result<Report> {
    let mut input = child.stdin.take().context("the child has no input")?;
    let output = child.stdout.take().context("the child has no output")?;
    let mut output = BufReader::with_capacity(64 * 1024, output);
    if ask == Ask::SessionCall {
        writeln!(input, "{}", session::INITIALIZE)?;
        let mut reply = Vec::new();
        output.read_until(b'\n', &mut reply)?;
        Reply::read(&reply).context("opening a session")?;
        writeln!(input, "{}", session::INITIALIZED)?;
    }
    let mut tally = Tally::new(window, Some(child.id()));
    let mut sent: Vec<Instant> = Vec::with_capacity(1 << 20);
    let mut lines = Vec::with_capacity(depth * 320);
    let mut due = depth;
    let mut first: Option<Reply> = None;
    let mut partial = Vec::new();
    loop {
        lines.clear();
        for _ in 0..due {
            wire::stdio_line(ask, session::FIRST_ID + sent.len(), &mut lines);
            sent.push(Instant::now());
        }
        input.write_all(&lines)?;
        due = 0;
        let chunk = output.fill_buf()?;
        ensure!(!chunk.is_empty(), "the child closed its output");
        let now = Instant::now();
        let taken = chunk.len();
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            partial.extend_from_slice(piece);
            if piece.last() != Some(&b'\n') {
                break;
            }
            if partial.starts_with(NOTIFICATION) {
                partial.clear();
                continue;
            }
            let line = Reply::read(&partial)?;
            let begun = *sent.get(line.id - session::FIRST_ID).context("a reply without a request")?;
            let expected = first.get_or_insert_with(|| line.clone());
            let same = line.around == expected.around;
            let bytes = expected.around.len();
            partial.clear();
            due += 1;
            if !tally.count(now, begun, true, same)? {
                return tally.finish(bytes);
            }
        }
        output.consume(taken);
    }
}
