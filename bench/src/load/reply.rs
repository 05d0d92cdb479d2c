//! Just enough of HTTP/1.1 to know where a reply ends.

use anyhow::{Context, Result, ensure};

/// The head of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Its status code.
    pub status: u16,
    /// Where the body begins.
    pub body: usize,
    /// Where it ends.
    pub end: usize,
}

impl Head {
    /// Reads the head at the start of `bytes`; `None` while it is not all there.
    ///
    /// # Errors
    ///
    /// When this is not HTTP/1.1, or the body's length is not given beforehand.
    pub fn read(bytes: &[u8]) -> Result<Option<Self>> {
        let Some(length) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
            return Ok(None);
        };
        let head = std::str::from_utf8(&bytes[..length]).context("a head that is not text")?;
        let mut lines = head.split("\r\n");
        let status = lines
            .next()
            .and_then(|line| line.strip_prefix("HTTP/1.1 "))
            .and_then(|line| line.get(..3))
            .and_then(|code| code.parse().ok());
        let size: Option<usize> = lines
            .filter_map(|line| line.split_once(':'))
            .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
            .and_then(|(_, value)| value.trim().parse().ok());
        ensure!(status.is_some() && size.is_some(), "a reply with a status and a Content-Length was due, not:\n{head}");
        let body = length + 4;
        Ok(status.zip(size).map(|(status, size)| Self { status, body, end: body + size }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_where_the_body_ends() {
        let bytes = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nContent-Length: 5\r\n\r\nhello";
        let head = Head::read(bytes).unwrap().unwrap();
        assert_eq!(head.status, 200);
        assert_eq!(&bytes[head.body..head.end], b"hello");
    }

    #[test]
    fn waits_for_the_whole_head() {
        assert_eq!(Head::read(b"HTTP/1.1 200 OK\r\nContent-Le").unwrap(), None);
    }

    #[test]
    fn a_chunked_reply_is_refused_with_its_head() {
        let chunked = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
        let error = Head::read(chunked).unwrap_err().to_string();
        assert!(error.contains("transfer-encoding: chunked"), "{error}");
    }
}
