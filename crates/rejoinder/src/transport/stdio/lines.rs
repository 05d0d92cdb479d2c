//! A message for each line.

use std::io;

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::{
    auth::Held,
    call::AfterReply,
    protocol::{Http, ReplyBody},
    transport::connection::{Received, Wire},
};

/// The messages of a pipe: one for each line.
pub(in crate::transport) struct LineWire<R, W> {
    input: R,
    output: W,
    lines: LineReader,
    /// Whether the client has closed its end.
    is_closed: bool,
    /// What waits to be written.
    out: BytesMut,
    /// What waits until that is written.
    after: Vec<AfterReply>,
}

impl<R, W> LineWire<R, W> {
    /// Lines of at most that many bytes.
    pub(in crate::transport) fn new(input: R, output: W, limit: usize) -> Self {
        let lines = LineReader::new(limit);
        Self { input, output, lines, is_closed: false, out: BytesMut::new(), after: Vec::new() }
    }
}

impl<R, W> Wire for LineWire<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin,
{
    async fn next(&mut self) -> io::Result<Received> {
        loop {
            match self.lines.next() {
                Some(Ok(line)) if line.trim_ascii().is_empty() => {}
                Some(Ok(line)) => return Ok(Received::Whole(line, Http::over_stdio(), Held::default())),
                Some(Err((beginning, end))) => return Ok(Received::TooLong(beginning, end)),
                None if self.is_closed => return Ok(Received::End),
                None => {
                    self.is_closed = self.input.read_buf(self.lines.space()).await? == 0;
                    if self.is_closed {
                        // The last line may have no line break.
                        self.lines.space().extend_from_slice(b"\n");
                    }
                }
            }
        }
    }

    fn push(&mut self, message: ReplyBody, after: Option<AfterReply>) {
        message.pieces().for_each(|piece| self.out.extend_from_slice(&piece));
        self.out.extend_from_slice(b"\n");
        self.after.extend(after);
    }

    async fn flush(&mut self) -> io::Result<()> {
        while !self.out.is_empty() {
            let written = self.output.write(&self.out).await?;
            if written == 0 {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            self.out.advance(written);
        }
        self.output.flush().await?;
        self.after.clear();
        Ok(())
    }
}

/// Cuts a stream of bytes into lines, none longer than the limit. Of a longer one only the beginning and the end are returned,
/// as an error: the rest is skipped as it arrives, so its length costs no memory.
#[derive(Debug)]
struct LineReader {
    buffer: BytesMut,
    /// How much of the buffer is known to have no line break.
    searched: usize,
    limit: usize,
    /// The beginning of a line that is too long, while the rest of it is passed over.
    too_long: Option<Bytes>,
}

/// How much of a line that is too long is kept at each end, to find its id.
const KEPT: usize = 1024;

/// The longest line that is copied.
const SHORT: usize = 4 * 1024;

impl LineReader {
    fn new(limit: usize) -> Self {
        Self { buffer: BytesMut::with_capacity(64 * 1024), searched: 0, limit, too_long: None }
    }

    /// Where what is read goes.
    fn space(&mut self) -> &mut BytesMut {
        self.buffer.reserve(16 * 1024);
        &mut self.buffer
    }

    /// The next line that has arrived, without its line break.
    fn next(&mut self) -> Option<Result<Bytes, (Bytes, Bytes)>> {
        let beginning = |line: &[u8]| Bytes::copy_from_slice(&line[..line.len().min(KEPT)]);
        let found = memchr::memchr(b'\n', &self.buffer[self.searched..]);
        let Some(end) = found.map(|at| at + self.searched) else {
            if self.too_long.is_none() && self.buffer.len() > self.limit {
                self.too_long = Some(beginning(&self.buffer));
            }
            if self.too_long.is_some() {
                self.buffer.advance(self.buffer.len().saturating_sub(KEPT));
            }
            self.searched = self.buffer.len();
            return None;
        };
        self.searched = 0;
        let line = self.buffer.split_to(end);
        self.buffer.advance(1);
        if let Some(beginning) = self.too_long.take().or_else(|| (end > self.limit).then(|| beginning(&line))) {
            return Some(Err((beginning, Bytes::copy_from_slice(&line[end.saturating_sub(KEPT)..]))));
        }
        // A call keeps its line while it runs. A copy of a short one lets go of the buffer, which is then used again.
        Some(Ok(if line.len() <= SHORT { Bytes::copy_from_slice(&line) } else { line.freeze() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r_l8_a_short_line_does_not_keep_the_buffer() {
        let mut lines = LineReader::new(100);
        lines.space().extend_from_slice(b"first\nsecond\n");
        let Some(Ok(first)) = lines.next() else { panic!("a line") };
        assert!(first.is_unique() && first == "first");
    }

    fn cut(limit: usize, chunks: &[&[u8]]) -> Vec<Result<Bytes, (Bytes, Bytes)>> {
        let mut lines = LineReader::new(limit);
        let mut cut = Vec::new();
        for chunk in chunks {
            lines.space().extend_from_slice(chunk);
            cut.extend(std::iter::from_fn(|| lines.next()));
        }
        cut
    }

    fn whole(text: &'static str) -> Result<Bytes, (Bytes, Bytes)> {
        Ok(Bytes::from_static(text.as_bytes()))
    }

    #[test]
    fn lines_are_cut_wherever_the_chunks_end() {
        assert_eq!(
            cut(100, &[b"one\ntw", b"o\n", b"\nthree\n"]),
            [whole("one"), whole("two"), whole(""), whole("three")]
        );
    }

    #[test]
    fn a_line_that_is_too_long_is_reported_once_and_skipped() {
        let too_long = |beginning: &'static str, end: &'static str| Err((beginning.into(), end.into()));
        assert_eq!(cut(4, &[b"12345", b"67890", b"123\nok\n"]), [too_long("12345", "1234567890123"), whole("ok")]);
        assert_eq!(cut(4, &[b"12345\n1234\n"]), [too_long("12345", "12345"), whole("1234")]);
        let long = [b"{", &[b'x'; 9000][..], b"}\n"].concat();
        let [Err((beginning, end))] = &cut(4, &long.chunks(100).collect::<Vec<_>>())[..] else { panic!("one line") };
        assert!(beginning.starts_with(b"{") && end.ends_with(b"}") && beginning.len() <= KEPT && end.len() == KEPT);
    }

    #[test]
    fn a_line_that_is_too_long_costs_no_memory() {
        let mut lines = LineReader::new(1024);
        for _ in 0..1000 {
            lines.space().extend_from_slice(&[b'x'; 16 * 1024]);
            let _ = lines.next();
        }
        assert!(lines.buffer.capacity() < 1024 * 1024);
    }
}
