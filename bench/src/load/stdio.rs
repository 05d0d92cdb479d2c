//! Load over a child's standard input and output, with a fixed number of requests in flight.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use super::report::{Report, Tally, Window};
use crate::wire;

/// As many requests and replies as surely fit into the pipes: more, and both sides could wait to write.
const MOST_IN_FLIGHT: usize = 128;

/// Starts `command` and loads it, `depth` requests in flight.
///
/// # Errors
///
/// When the child cannot be started, ends early or says what is no reply.
pub fn run(command: &[String], depth: usize, window: Window) -> Result<Report> {
    ensure!((1..=MOST_IN_FLIGHT).contains(&depth), "from 1 to {MOST_IN_FLIGHT} requests can be in flight");
    let (program, arguments) = command.split_first().context("which server to start?")?;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("`{program}` cannot be started"))?;
    let report = drive(&mut child, depth, window);
    // It may have ended by itself, which is what killing it is for.
    let _ = child.kill();
    child.wait()?;
    report
}

/// Keeps `depth` requests in flight until the window closes.
fn drive(child: &mut Child, depth: usize, window: Window) -> Result<Report> {
    let mut input = child.stdin.take().context("the child has no input")?;
    let output = child.stdout.take().context("the child has no output")?;
    let mut output = BufReader::with_capacity(64 * 1024, output);
    let mut tally = Tally::new(window, Some(child.id()));
    let mut sent: Vec<Instant> = Vec::with_capacity(1 << 20);
    let mut lines = Vec::with_capacity(depth * 320);
    let mut due = depth;
    let mut first: Option<Line> = None;
    let mut partial = Vec::new();
    loop {
        lines.clear();
        for _ in 0..due {
            wire::stdio_line(sent.len(), &mut lines);
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
            let line = Line::read(&partial)?;
            let begun = *sent.get(line.id).context("a reply to no request")?;
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

/// A reply: its id, and everything but the id, to compare with other replies.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    id: usize,
    around: Vec<u8>,
}

impl Line {
    /// Finds the id without parsing: the replies of the bench have a single `"id":` in them.
    fn read(line: &[u8]) -> Result<Self> {
        const KEY: &[u8] = br#""id":"#;
        let found = line.windows(KEY.len()).position(|part| part == KEY);
        let begin = found.map(|at| at + KEY.len());
        let digits = begin.map_or(0, |at| {
            let rest = &line[at..];
            rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
        });
        let id =
            begin.and_then(|at| std::str::from_utf8(&line[at..at + digits]).ok()).and_then(|text| text.parse().ok());
        let (Some(begin), Some(id)) = (begin, id) else {
            anyhow::bail!("not a reply: {}", String::from_utf8_lossy(line));
        };
        let around = [&line[..begin], &line[begin + digits..]].concat();
        Ok(Self { id, around })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_differ_in_their_ids_only() {
        let one = Line::read(br#"{"id":7,"result":{}}"#).unwrap();
        let two = Line::read(br#"{"id":1234,"result":{}}"#).unwrap();
        assert_eq!((one.id, two.id), (7, 1234));
        assert_eq!(one.around, two.around);
    }

    #[test]
    fn what_is_no_reply_is_shown() {
        let error = Line::read(b"starting...").unwrap_err().to_string();
        assert_eq!(error, "not a reply: starting...");
    }
}
