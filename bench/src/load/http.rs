//! HTTP/1.1 load over kept-alive connections, each with one request in flight.

use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

use super::reply::Head;
use super::report::{Report, Tally, Window};
use crate::two_rounds;
use crate::wire::Ask;

/// Bodies up to this size are all compared with the first; of larger ones every sixteenth, since comparing those
/// costs the loader more than the server needs to send them.
const ALWAYS_COMPARED: usize = 16 * 1024;

/// A server that says nothing for so long has hung.
const PATIENCE: Duration = Duration::from_secs(10);

/// Makes one call on a connection of its own and returns the body of its last reply.
///
/// # Errors
///
/// When the server cannot be reached or answers with another status than 200.
pub fn once(address: SocketAddr, ask: Ask) -> Result<Vec<u8>> {
    let mut stream = std::net::TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let authority = address.to_string();
    let reply = exchange(&mut stream, &ask.http(&authority))?;
    if ask != Ask::TwoRounds {
        return Ok(reply);
    }
    exchange(&mut stream, &ask.http_with(&authority, &two_rounds::answer(&reply)?))
}

/// Sends one request and waits for the body of its reply.
fn exchange(stream: &mut std::net::TcpStream, request: &[u8]) -> Result<Vec<u8>> {
    stream.write_all(request)?;
    let mut bytes = Vec::new();
    let mut piece = [0; 16 * 1024];
    loop {
        let got = stream.read(&mut piece)?;
        if got == 0 {
            bail!("the server closed the connection before its reply was whole");
        }
        bytes.extend_from_slice(&piece[..got]);
        if let Some(head) = Head::read(&bytes)?
            && bytes.len() >= head.end
        {
            let body = bytes[head.body..head.end].to_vec();
            if head.status != 200 {
                bail!("status {}: {}", head.status, String::from_utf8_lossy(&body));
            }
            return Ok(body);
        }
    }
}

/// Loads the server at `address` with the same call over and over.
///
/// A call of two rounds is counted once, when it ends, and its time is that of both.
///
/// # Errors
///
/// When a connection fails or is closed, or the server stops answering.
pub fn run(
    address: SocketAddr,
    ask: Ask,
    connections: usize,
    window: Window,
    waiting: Waiting,
    pid: Option<u32>,
) -> Result<Report> {
    let authority = address.to_string();
    let request = ask.http(&authority);
    let mut poll = Poll::new()?;
    let mut open = Vec::with_capacity(connections);
    for number in 0..connections {
        let mut connection = Connection::open(address, request.clone())?;
        let both = Interest::READABLE | Interest::WRITABLE;
        poll.registry().register(&mut connection.stream, Token(number), both)?;
        open.push(connection);
    }
    let mut events = Events::with_capacity(connections.max(16));
    let mut first: Option<Vec<u8>> = None;
    let mut tally = Tally::new(window, pid);
    loop {
        waiting.wait(&mut poll, &mut events)?;
        for event in &events {
            let connection = &mut open[event.token().0];
            connection.flush()?;
            let Some(head) = connection.receive()? else {
                continue;
            };
            if ask == Ask::TwoRounds && !connection.is_answering {
                let answer = two_rounds::answer(connection.body(head))?;
                connection.send(ask.http_with(&authority, &answer))?;
                connection.is_answering = true;
                continue;
            }
            let now = Instant::now();
            let same = connection.is_same(head, first.as_deref());
            if first.is_none() {
                first = Some(connection.body(head).to_vec());
            }
            if !tally.count(now, connection.begun, head.status == 200, same)? {
                return tally.finish(first.map_or(0, |body| body.len()));
            }
            connection.next_call(&request)?;
        }
    }
}

/// How the loader waits for replies.
#[derive(Debug, Clone, Copy)]
pub enum Waiting {
    /// Until the server wakes it.
    Asleep,
    /// Looking again and again, so that the server need not wake it: for a loader with a core of its own.
    Awake,
}

impl Waiting {
    fn wait(self, poll: &mut Poll, events: &mut Events) -> Result<()> {
        let began = Instant::now();
        let at_most = match self {
            Self::Asleep => PATIENCE,
            Self::Awake => Duration::ZERO,
        };
        loop {
            match poll.poll(events, Some(at_most)) {
                Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error.into()),
                _ if !events.is_empty() => return Ok(()),
                _ if began.elapsed() >= PATIENCE => bail!("the server has not answered for {} s", PATIENCE.as_secs()),
                _ => {}
            }
        }
    }
}

/// One connection and the reply it is reading.
#[derive(Debug)]
struct Connection {
    stream: TcpStream,
    /// When the first request of the call was sent.
    begun: Instant,
    /// The request in flight, of which `written` bytes have left.
    request: Vec<u8>,
    written: usize,
    /// Whether that request is the second of its call.
    is_answering: bool,
    /// Room for the reply, of which `filled` bytes have come.
    bytes: Vec<u8>,
    filled: usize,
    head: Option<Head>,
    replies: usize,
}

impl Connection {
    /// Connects (and waits for it: only the load itself is timed) and sends the first request.
    fn open(address: SocketAddr, request: Vec<u8>) -> Result<Self> {
        let stream = std::net::TcpStream::connect(address).with_context(|| format!("nothing listens at {address}"))?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        let mut connection = Self {
            stream: TcpStream::from_std(stream),
            begun: Instant::now(),
            request,
            written: 0,
            is_answering: false,
            bytes: vec![0; 4096],
            filled: 0,
            head: None,
            replies: 0,
        };
        connection.flush()?;
        Ok(connection)
    }

    /// Writes what is left of the request.
    fn flush(&mut self) -> Result<()> {
        while self.written < self.request.len() {
            match self.stream.write(&self.request[self.written..]) {
                Ok(written) => self.written += written,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Reads what has come; the head once the whole reply is there.
    ///
    /// Events are edge-triggered, but a read that leaves room in the buffer has emptied the socket: what comes later
    /// is a new edge. So the usual reply costs one read, not a second one to hear that there is no more.
    fn receive(&mut self) -> Result<Option<Head>> {
        loop {
            let room = self.bytes.len() - self.filled;
            match self.stream.read(&mut self.bytes[self.filled..]) {
                Ok(0) => bail!("the server closed a connection"),
                Ok(got) => {
                    self.filled += got;
                    if self.head.is_none() {
                        self.head = Head::read(&self.bytes[..self.filled])?;
                    }
                    if let Some(head) = self.head {
                        if self.filled >= head.end {
                            return Ok(self.head);
                        }
                        // One byte more than the reply, so that even its last read leaves room.
                        self.bytes.resize(self.bytes.len().max(head.end + 1), 0);
                    }
                    if got < room {
                        return Ok(None);
                    }
                    if self.filled == self.bytes.len() {
                        self.bytes.resize(self.filled * 2, 0);
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The body of the reply that `receive` found whole.
    fn body(&self, head: Head) -> &[u8] {
        &self.bytes[head.body..head.end]
    }

    /// Whether the body is that of the first reply.
    fn is_same(&self, head: Head, first: Option<&[u8]>) -> bool {
        let Some(first) = first else { return true };
        let body = self.body(head);
        if body.len() > ALWAYS_COMPARED && !self.replies.is_multiple_of(16) {
            return body.len() == first.len();
        }
        body == first
    }

    /// Begins the next call.
    fn next_call(&mut self, request: &[u8]) -> Result<()> {
        self.replies += 1;
        self.begun = Instant::now();
        // What was sent last is the first request already, unless that was a second one.
        let again =
            if std::mem::take(&mut self.is_answering) { request.to_vec() } else { std::mem::take(&mut self.request) };
        self.send(again)
    }

    /// Sends a request.
    fn send(&mut self, request: Vec<u8>) -> Result<()> {
        self.filled = 0;
        self.head = None;
        self.written = 0;
        self.request = request;
        self.flush()
    }
}
