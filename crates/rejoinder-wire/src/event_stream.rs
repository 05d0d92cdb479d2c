use std::{fmt, time::Duration};

/// An event of an event stream (`text/event-stream`).
///
/// ```
/// use rejoinder_wire::{EventDecoder, ServerSentEvent};
///
/// let mut expected = ServerSentEvent::default();
/// expected.data = Some("hello".to_owned());
/// let mut events = EventDecoder::new(1024);
/// events.feed(b"data: hello\n\n");
/// assert_eq!(events.next_event()?, Some(expected));
/// # Ok::<_, rejoinder_wire::EventTooLong>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ServerSentEvent {
    /// Its type; without one it is a `message`.
    pub event: Option<String>,
    /// Its data. An event without data only sets `id` or `retry`.
    pub data: Option<String>,
    /// What to send as `Last-Event-ID` after a lost connection. An empty one means that nothing is sent.
    pub id: Option<String>,
    /// How long to wait before the next connection.
    pub retry: Option<Duration>,
}

/// Reads an event stream from chunks that end anywhere.
///
/// ```
/// use rejoinder_wire::EventDecoder;
///
/// let mut events = EventDecoder::new(1024);
/// events.feed(b"id: 7\r\nda");
/// assert_eq!(events.next_event()?, None);
/// events.feed(b"ta: hello\r\n\r\n");
/// let event = events.next_event()?.expect("a whole event");
/// assert_eq!((event.data.as_deref(), event.id.as_deref()), (Some("hello"), Some("7")));
/// # Ok::<_, rejoinder_wire::EventTooLong>(())
/// ```
#[derive(Debug)]
pub struct EventDecoder {
    /// What was fed, up to `read` of which is in `event`.
    unread: Vec<u8>,
    /// Where the next line begins.
    start: usize,
    /// Where to look for its end.
    searched: usize,
    event: ServerSentEvent,
    /// The bytes of the event so far.
    length: usize,
    limit: usize,
    /// Nothing has been read: a byte order mark may come.
    is_start: bool,
    /// The last line ended in `\r`: a `\n` that follows belongs to it. It may be in another chunk, and the line does not wait
    /// for it.
    is_after_return: bool,
}

impl EventDecoder {
    /// A decoder that refuses an event of more than `limit` bytes.
    pub fn new(limit: usize) -> Self {
        let (unread, event) = (Vec::new(), ServerSentEvent::default());
        Self { unread, start: 0, searched: 0, event, length: 0, limit, is_start: true, is_after_return: false }
    }

    /// Adds a chunk. Take all events out of it with [`next_event`](Self::next_event) before the next: the decoder then holds no
    /// more than its limit and a chunk.
    pub fn feed(&mut self, chunk: &[u8]) {
        // What has been read is dropped once for each chunk, not for each line.
        self.unread.drain(..self.start);
        (self.searched, self.start) = (self.searched - self.start, 0);
        self.unread.extend_from_slice(chunk);
    }

    /// The next whole event; `None` until more is fed. Comments are skipped, and an event that the stream ends in is not whole.
    ///
    /// # Errors
    ///
    /// If the event is too long. The stream cannot be read further.
    pub fn next_event(&mut self) -> Result<Option<ServerSentEvent>, EventTooLong> {
        while let Some((start, end)) = self.next_line() {
            // A comment is not kept, so a stream may have any number of them.
            if self.unread[start..end].starts_with(b":") {
                continue;
            }
            self.length += end - start;
            if self.length > self.limit {
                return Err(EventTooLong { limit: self.limit });
            }
            let line = String::from_utf8_lossy(&self.unread[start..end]).into_owned();
            if !line.is_empty() {
                self.event.read(&line);
                continue;
            }
            self.length = 0;
            let event = std::mem::take(&mut self.event);
            if event != ServerSentEvent::default() {
                return Ok(Some(event));
            }
        }
        if self.length + self.unread.len() - self.start > self.limit {
            return Err(EventTooLong { limit: self.limit });
        }
        Ok(None)
    }

    /// The next whole line, without its end: `\n`, `\r\n` or `\r`.
    fn next_line(&mut self) -> Option<(usize, usize)> {
        if self.unread.len() > self.start
            && std::mem::take(&mut self.is_after_return)
            && self.unread[self.start] == b'\n'
        {
            self.start += 1;
            self.searched = self.start;
        }
        let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
        let Some(found) = self.unread[self.searched..].iter().position(is_end) else {
            self.searched = self.unread.len();
            return None;
        };
        let end = self.searched + found;
        self.is_after_return = self.unread[end] == b'\r';
        let mut start = self.start;
        if std::mem::take(&mut self.is_start) && self.unread[start..end].starts_with(b"\xEF\xBB\xBF") {
            start += 3;
        }
        (self.start, self.searched) = (end + 1, end + 1);
        Some((start, end))
    }
}

impl ServerSentEvent {
    fn read(&mut self, line: &str) {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => self.event = Some(value.to_owned()),
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            "id" if !value.contains('\0') => self.id = Some(value.to_owned()),
            "retry" if value.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.retry = value.parse().ok().map(Duration::from_millis).or(self.retry);
            }
            _ => {}
        }
    }
}

/// An event has more bytes than the decoder accepts.
///
/// ```
/// use rejoinder_wire::EventDecoder;
///
/// let mut events = EventDecoder::new(8);
/// events.feed(b"data: hello\n\n");
/// assert_eq!(events.next_event().unwrap_err().limit, 8);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventTooLong {
    /// How many it accepts.
    pub limit: usize,
}

impl fmt::Display for EventTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an event of the stream is larger than {} bytes", self.limit)
    }
}

impl std::error::Error for EventTooLong {}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = "\u{feff}: a comment\nid: 1\nretry: 250\n\nevent: message\ndata: {\ndata:  \"ü\" }\nid: 2\n\n\
        data\n\nretry: x\nnobody: knows\n\ndata: not whole\n";

    fn read(bytes: &[u8], chunk: usize) -> Vec<ServerSentEvent> {
        let (mut decoder, mut events) = (EventDecoder::new(64), Vec::new());
        for chunk in bytes.chunks(chunk) {
            decoder.feed(chunk);
            events.extend(std::iter::from_fn(|| decoder.next_event().expect("short events")));
        }
        events
    }

    #[test]
    fn events_are_read_wherever_chunks_and_lines_end() {
        let text = |text: &str| Some(text.to_owned());
        let retry = Some(Duration::from_millis(250));
        let expected = [
            ServerSentEvent { id: text("1"), retry, ..ServerSentEvent::default() },
            ServerSentEvent { event: text("message"), data: text("{\n \"ü\" }"), id: text("2"), retry: None },
            ServerSentEvent { data: text(""), ..ServerSentEvent::default() },
        ];
        for end in ["\n", "\r\n", "\r"] {
            let stream = STREAM.replace('\n', end);
            for chunk in 1..=stream.len() {
                assert_eq!(read(stream.as_bytes(), chunk), expected, "lines end in {end:?}, chunks of {chunk}");
            }
        }
    }

    #[test]
    fn an_event_is_read_when_its_last_line_ends() {
        for end in ["\n", "\r\n", "\r"] {
            let (mut decoder, chunk) = (EventDecoder::new(64), "data: 1\n\n".replace('\n', end));
            for _ in 0..2 {
                decoder.feed(chunk.as_bytes());
                let event = decoder.next_event().expect("a short event").expect("a whole event");
                assert_eq!(
                    (event.data.as_deref(), decoder.next_event()),
                    (Some("1"), Ok(None)),
                    "lines end in {end:?}"
                );
            }
        }
    }

    #[test]
    fn comments_are_not_kept() {
        let mut decoder = EventDecoder::new(64);
        decoder.feed(b"id: 1\n");
        for _ in 0..20 {
            decoder.feed(b": still here\n");
            assert_eq!(decoder.next_event(), Ok(None));
        }
        decoder.feed(b"\n");
        assert_eq!(decoder.next_event().map(|event| event.and_then(|event| event.id)), Ok(Some("1".to_owned())));
    }

    #[test]
    fn an_event_that_is_too_long_is_refused_before_its_end() {
        for stream in
            [format!("data: {}", "x".repeat(70)), "data: x\n".repeat(11), format!("data: {}\n\n", "x".repeat(70))]
        {
            let mut decoder = EventDecoder::new(64);
            decoder.feed(stream.as_bytes());
            assert_eq!(decoder.next_event(), Err(EventTooLong { limit: 64 }), "{stream:?}");
        }
    }
}
