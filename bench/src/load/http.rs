//! HTTP/1.1 load over kept-alive connections, each with one request in flight.

use std::borrow::Cow;
use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

use super::report::{Report, Tally, Window};
use crate::wire::{self, Ask, Reply};
use crate::{session, stream, task, two_rounds};

/// Bodies up to this size are all compared with the first; of larger ones every sixteenth, since comparing those
/// costs the loader more than the server needs to send them.
const ALWAYS_COMPARED: usize = 16 * 1024;

/// A server that says nothing for so long has hung.
const PATIENCE: Duration = Duration::from_secs(10);

/// Makes one call on a new connection and returns the message in its last reply.
///
/// # Errors
///
/// When the server cannot be reached or answers with another status than 200.
pub fn once(address: SocketAddr, ask: Ask) -> Result<Vec<u8>> {
    let mut stream = connect(address)?;
    let authority = address.to_string();
    let request = first_request(&mut stream, &authority, ask)?;
    let (_, reply) = exchange(&mut stream, &request)?;
    if ask != Ask::TwoRounds {
        return Ok(reply);
    }
    Ok(exchange(&mut stream, &ask.http_with(&authority, &two_rounds::answer(&reply)?))?.1)
}

fn connect(address: SocketAddr) -> Result<std::net::TcpStream> {
    let stream = std::net::TcpStream::connect(address).with_context(|| format!("nothing listens at {address}"))?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    Ok(stream)
}

/// The first request of a connection, which opens a session where the call needs one.
fn first_request(stream: &mut std::net::TcpStream, authority: &str, ask: Ask) -> Result<Vec<u8>> {
    if ask == Ask::TaskGet {
        let (_, reply) = exchange(stream, &ask.http(authority))?;
        let get = look(authority, &reply)?;
        loop {
            let (_, reply) = exchange(stream, &get)?;
            if task::result(&reply).is_some() {
                return Ok(get);
            }
            let shown = String::from_utf8_lossy(&reply);
            ensure!(!shown.contains(r#""status":"failed""#), "the task failed: {shown}");
        }
    }
    if ask != Ask::SessionCall {
        return Ok(ask.http(authority));
    }
    let (head, _) = exchange(stream, &session::post(authority, None, session::INITIALIZE))?;
    let id = header(&head, "mcp-session-id").context("`initialize` was answered without `Mcp-Session-Id`")?;
    exchange(stream, &session::post(authority, Some(id), session::INITIALIZED))?;
    Ok(session::first_call(authority, id))
}

/// The request that looks at the task in a reply.
fn look(authority: &str, reply: &[u8]) -> Result<Vec<u8>> {
    let id = task::id(reply)?;
    Ok(wire::post(authority, &task::headers(id), &task::get(id)))
}

/// Sends one request and waits for its reply: the head, and the JSON in the body.
fn exchange(stream: &mut std::net::TcpStream, request: &[u8]) -> Result<(String, Vec<u8>)> {
    stream.write_all(request)?;
    let mut bytes = Vec::new();
    let mut piece = [0; 16 * 1024];
    loop {
        let got = stream.read(&mut piece)?;
        ensure!(got > 0, "the server closed the connection before its reply was complete");
        bytes.extend_from_slice(&piece[..got]);
        if let Some(head) = Head::read(&bytes)?
            && let Some(end) = head.end_in(&bytes)
        {
            let text = String::from_utf8_lossy(&bytes);
            ensure!(matches!(head.status, 200 | 202), "unexpected reply: {text}");
            let body = &bytes[head.body..end];
            let body = if head.end.is_some() { body.into() } else { Cow::from(stream::without_chunks(body)) };
            return Ok((text[..head.body].to_owned(), wire::object(&body).to_vec()));
        }
    }
}

/// Loads the server at `address` with the same call over and over.
///
/// A call of two rounds is counted once, when it ends, and its time is that of both; so is a task.
///
/// # Errors
///
/// When a connection fails or is closed, or the server stops answering.
pub fn run(address: SocketAddr, ask: Ask, connections: usize, window: Window, pid: Option<u32>) -> Result<Report> {
    let authority = address.to_string();
    let mut poll = Poll::new()?;
    let mut open = Vec::with_capacity(connections);
    for number in 0..connections {
        let mut connection = Connection::open(address, ask)?;
        let both = Interest::READABLE | Interest::WRITABLE;
        poll.registry().register(&mut connection.stream, Token(number), both)?;
        open.push(connection);
    }
    let mut events = Events::with_capacity(connections.max(16));
    let mut first: Option<Vec<u8>> = None;
    let mut tally = Tally::new(window, pid);
    loop {
        match poll.poll(&mut events, Some(PATIENCE)) {
            Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error.into()),
            Ok(()) if events.is_empty() => bail!("the server has not answered for {} s", PATIENCE.as_secs()),
            _ => {}
        }
        for event in &events {
            let connection = &mut open[event.token().0];
            connection.flush()?;
            let Some(head) = connection.receive()? else { continue };
            if ask == Ask::TwoRounds && connection.answer.is_none() {
                let answer = two_rounds::answer(connection.body())?;
                connection.answer = Some(ask.http_with(&authority, &answer));
                connection.send()?;
                continue;
            }
            if ask == Ask::Task && task::result(connection.body()).is_none() {
                if connection.answer.is_none() {
                    connection.answer = Some(look(&authority, connection.body())?);
                }
                connection.send()?;
                continue;
            }
            let now = Instant::now();
            let same = match &first {
                Some(first) => connection.is_same(first)?,
                None => true,
            };
            if first.is_none() {
                first = Some(connection.comparable()?.into_owned());
            }
            if !tally.count(now, connection.begun, head.status == 200, same)? {
                return tally.finish(first.map_or(0, |body| body.len()));
            }
            connection.next_call()?;
        }
    }
}

/// One connection and the reply it is reading.
#[derive(Debug)]
struct Connection {
    stream: TcpStream,
    ask: Ask,
    /// When the first request of the call was sent.
    begun: Instant,
    /// The first request of the call.
    call: Vec<u8>,
    /// The second one, if it is in flight.
    answer: Option<Vec<u8>>,
    /// How many bytes of the request in flight have left.
    written: usize,
    /// Room for the reply, of which `filled` bytes have come.
    bytes: Vec<u8>,
    filled: usize,
    head: Option<Head>,
    replies: usize,
}

impl Connection {
    /// Connects, opens a session if the call needs one, and sends the first request: only the load itself is timed.
    fn open(address: SocketAddr, ask: Ask) -> Result<Self> {
        let mut stream = connect(address)?;
        let call = first_request(&mut stream, &address.to_string(), ask)?;
        stream.set_nonblocking(true)?;
        let mut connection = Self {
            stream: TcpStream::from_std(stream),
            ask,
            begun: Instant::now(),
            call,
            answer: None,
            written: 0,
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
        let request = self.answer.as_ref().unwrap_or(&self.call);
        while self.written < request.len() {
            match self.stream.write(&request[self.written..]) {
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
    /// is a new edge. So the usual reply costs one read.
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
                        if head.end_in(&self.bytes[..self.filled]).is_some() {
                            return Ok(self.head);
                        }
                        // One byte more than the reply, so that even its last read leaves room.
                        self.bytes.resize(self.bytes.len().max(head.end.unwrap_or(0) + 1), 0);
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

    /// The body of the reply that `receive` found complete.
    fn body(&self) -> &[u8] {
        let begin = self.head.map_or(0, |head| head.body);
        let end = self.head.and_then(|head| head.end).unwrap_or(self.filled);
        &self.bytes[begin..end]
    }

    /// What all replies have in common. On a session each message has its own id, and so has each event; the chunks of a
    /// stream end anywhere.
    fn comparable(&self) -> Result<Cow<'_, [u8]>> {
        if self.ask == Ask::SessionCall {
            return Ok(Reply::read(wire::object(self.body()))?.around.into());
        }
        if self.ask == Ask::Stream {
            return Ok(stream::without_chunks(self.body()).into());
        }
        if matches!(self.ask, Ask::Task | Ask::TaskGet) {
            return Ok(task::result(self.body()).context("the task has no result")?.into());
        }
        Ok(self.body().into())
    }

    /// Whether the reply is the same as the first one.
    fn is_same(&self, first: &[u8]) -> Result<bool> {
        if self.body().len() > ALWAYS_COMPARED && !self.replies.is_multiple_of(16) {
            return Ok(self.ask == Ask::Stream || self.body().len() == first.len());
        }
        Ok(self.comparable()? == first)
    }

    /// Begins the next call.
    fn next_call(&mut self) -> Result<()> {
        self.replies += 1;
        self.begun = Instant::now();
        self.answer = None;
        if self.ask == Ask::SessionCall {
            session::next_call(&mut self.call);
        }
        self.send()
    }

    /// Sends the next request.
    fn send(&mut self) -> Result<()> {
        self.filled = 0;
        self.head = None;
        self.written = 0;
        self.flush()
    }
}

/// The head of a reply: just enough of HTTP/1.1 to know where the reply ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Head {
    /// Its status code.
    status: u16,
    /// Where the body begins.
    body: usize,
    /// Where it ends; `None` if it is sent in chunks.
    end: Option<usize>,
}

impl Head {
    /// Reads the head at the start of `bytes`; `None` while it is incomplete.
    fn read(bytes: &[u8]) -> Result<Option<Self>> {
        let Some(length) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
            return Ok(None);
        };
        let head = str::from_utf8(&bytes[..length]).context("the head is not UTF-8")?;
        let status = head.strip_prefix("HTTP/1.1 ").and_then(|line| line.get(..3)?.parse().ok());
        let size = header(head, "content-length").and_then(|value| value.parse::<usize>().ok());
        let chunked = header(head, "transfer-encoding") == Some("chunked");
        let body = length + 4;
        match status {
            Some(status) if chunked || size.is_some() => {
                Ok(Some(Self { status, body, end: size.map(|size| body + size) }))
            }
            _ => bail!("expected a status and the body's length, got:\n{head}"),
        }
    }

    /// Where the reply ends, if `bytes` has all of it. Nothing follows it: one request is in flight.
    fn end_in(self, bytes: &[u8]) -> Option<usize> {
        match self.end {
            Some(end) => (bytes.len() >= end).then_some(end),
            None => bytes[self.body - 2..].ends_with(b"\r\n0\r\n\r\n").then_some(bytes.len()),
        }
    }
}

/// The value of a header.
fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = head.split("\r\n").filter_map(|line| line.split_once(':'));
    lines.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_where_the_body_ends() {
        let bytes = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nContent-Length: 5\r\n\r\nhello";
        let head = Head::read(bytes).unwrap().unwrap();
        assert_eq!(head.status, 200);
        assert_eq!(&bytes[head.body..head.end_in(bytes).unwrap()], b"hello");
        assert_eq!(head.end_in(&bytes[..bytes.len() - 1]), None);
    }

    #[test]
    fn finds_the_last_chunk() {
        let bytes = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
        let head = Head::read(bytes).unwrap().unwrap();
        assert_eq!(head.end_in(bytes), Some(bytes.len()));
        assert_eq!(head.end_in(&bytes[..bytes.len() - 5]), None);
        let empty = b"HTTP/1.1 202 Accepted\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n";
        assert_eq!(Head::read(empty).unwrap().unwrap().end_in(empty), Some(empty.len()));
    }

    #[test]
    fn waits_for_the_whole_head() {
        assert_eq!(Head::read(b"HTTP/1.1 200 OK\r\nContent-Le").unwrap(), None);
    }

    #[test]
    fn a_reply_of_unknown_length_is_an_error_that_shows_its_head() {
        let error = Head::read(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n").unwrap_err().to_string();
        assert!(error.contains("connection: close"), "{error}");
    }
}
