//! Load over one WebSocket, with a fixed number of requests in flight.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::report::{Report, Tally, Window};
use crate::wire::{self, Reply};

/// As many requests and replies as surely fit into the buffers of the sockets: more, and both sides could wait to write.
const MOST_IN_FLIGHT: usize = 128;

/// A server that says nothing for so long has hung.
const PATIENCE: Duration = Duration::from_secs(10);

/// Opens a WebSocket at `/mcp/ws` and loads it, `depth` requests in flight.
///
/// # Errors
///
/// When the server refuses the WebSocket, closes it, or sends something that is not a reply.
pub fn run(address: SocketAddr, depth: usize, window: Window, pid: Option<u32>) -> Result<Report> {
    ensure!((1..=MOST_IN_FLIGHT).contains(&depth), "from 1 to {MOST_IN_FLIGHT} requests can be in flight");
    let mut stream = open(address)?;
    let mut tally = Tally::new(window, pid);
    let mut sent: Vec<Instant> = Vec::with_capacity(1 << 20);
    let (mut message, mut frames) = (Vec::new(), Vec::with_capacity(depth * 320));
    let mut due = depth;
    let mut first: Option<Reply> = None;
    let mut read = vec![0; 64 * 1024];
    let mut received = Vec::new();
    loop {
        frames.clear();
        for _ in 0..due {
            message.clear();
            wire::message(false, 1 + sent.len(), &mut message);
            frame(&message, &mut frames);
            sent.push(Instant::now());
        }
        stream.write_all(&frames)?;
        due = 0;
        let got = stream.read(&mut read)?;
        ensure!(got > 0, "the server closed the WebSocket");
        received.extend_from_slice(&read[..got]);
        let now = Instant::now();
        let mut taken = 0;
        while let Some((payload, end)) = payload(&received[taken..]) {
            let reply = Reply::read(&received[taken..][payload])?;
            taken += end;
            let begun = *reply.id.checked_sub(1).and_then(|at| sent.get(at)).context("a reply without a request")?;
            let expected = first.get_or_insert_with(|| reply.clone());
            let (same, bytes) = (reply.around == expected.around, expected.around.len());
            due += 1;
            if !tally.count(now, begun, true, same)? {
                return tally.finish(bytes);
            }
        }
        received.drain(..taken);
    }
}

fn open(address: SocketAddr) -> Result<TcpStream> {
    let mut stream = TcpStream::connect(address).with_context(|| format!("nothing listens at {address}"))?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(
        stream,
        "GET /mcp/ws HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )?;
    let mut head = Vec::new();
    // Byte by byte: what follows is the first frame.
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).context("opening a WebSocket")?;
        head.extend(byte);
    }
    ensure!(head.starts_with(b"HTTP/1.1 101 "), "unexpected reply: {}", String::from_utf8_lossy(&head));
    Ok(stream)
}

/// Appends a text frame. Its mask is zero, so that masking costs the loader nothing; the server still unmasks it.
fn frame(message: &[u8], out: &mut Vec<u8>) {
    out.push(0x81);
    match u16::try_from(message.len()) {
        Ok(length) if length < 126 => out.push(0x80 | length.to_le_bytes()[0]),
        Ok(length) => {
            out.push(0x80 | 126);
            out.extend(length.to_be_bytes());
        }
        Err(_) => {
            out.push(0x80 | 127);
            out.extend((message.len() as u64).to_be_bytes());
        }
    }
    out.extend([0; 4]);
    out.extend_from_slice(message);
}

/// Where the payload of the first frame is, and where the frame ends, if it is complete.
fn payload(frames: &[u8]) -> Option<(std::ops::Range<usize>, usize)> {
    let (begin, length) = match *frames.get(1)? {
        126 => (4, usize::from(u16::from_be_bytes(frames.get(2..4)?.try_into().ok()?))),
        127 => (10, usize::try_from(u64::from_be_bytes(frames.get(2..10)?.try_into().ok()?)).ok()?),
        length => (2, usize::from(length)),
    };
    let end = begin + length;
    (frames.len() >= end).then_some((begin..end, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_found_when_they_are_complete() {
        for length in [5, 300, 70_000] {
            let mut masked = Vec::new();
            frame(&vec![b'x'; length], &mut masked);
            // As a server sends it: without a mask.
            let mask = masked.len() - length - 4;
            let mut plain = [&masked[..mask], &masked[mask + 4..]].concat();
            plain[1] &= 0x7F;
            assert_eq!(payload(&plain), Some((mask..mask + length, plain.len())));
            assert_eq!(payload(&plain[..plain.len() - 1]), None);
        }
    }
}
