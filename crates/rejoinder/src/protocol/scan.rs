//! Walks through a JSON object without building it.
//!
//! The values are read by `serde_json`, each by whoever knows its type, straight from the body: a call's arguments
//! are read once, into the types of its parameters, however large they are.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

/// The input is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Syntax;

/// A place in the input.
#[derive(Debug, Clone)]
pub(super) struct Scan<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scan<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Everything since another place.
    pub(super) fn since(&self, start: &Self) -> &'a str {
        &self.text[start.at..self.at]
    }

    pub(super) fn advance(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// The next byte that is not white space.
    pub(super) fn peek(&mut self) -> Option<u8> {
        while let Some(byte) = self.text.as_bytes().get(self.at) {
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(*byte);
            }
            self.at += 1;
        }
        None
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Whether nothing but white space is left.
    pub(super) fn is_done(&mut self) -> bool {
        self.peek().is_none()
    }

    /// Steps into an object; `false` if the next value is not one.
    pub(super) fn open(&mut self) -> bool {
        self.eat(b'{')
    }

    /// The next key of the object that was stepped into, or `None` at its end.
    pub(super) fn key(&mut self, first: &mut bool) -> Result<Option<Cow<'a, str>>, Syntax> {
        if self.eat(b'}') {
            return Ok(None);
        }
        if !std::mem::take(first) && !self.eat(b',') {
            return Err(Syntax);
        }
        // Also where a comma was the last thing in the object.
        if self.peek() != Some(b'"') {
            return Err(Syntax);
        }
        let key = self.string()?;
        if self.eat(b':') { Ok(Some(key)) } else { Err(Syntax) }
    }

    fn string(&mut self) -> Result<Cow<'a, str>, Syntax> {
        let text = &self.text[self.at + 1..];
        let plain = text.bytes().position(|byte| byte == b'"' || byte == b'\\' || byte < 0x20);
        if let Some(end) = plain.filter(|&end| text.as_bytes()[end] == b'"') {
            self.at += end + 2;
            return Ok(Cow::Borrowed(&text[..end]));
        }
        self.value::<String>().map(Cow::Owned).map_err(|_| Syntax)
    }

    /// Reads the next value; where that fails, the place is as it was.
    pub(super) fn value<T: Deserialize<'a>>(&mut self) -> Result<T, serde_json::Error> {
        let mut stream = serde_json::Deserializer::from_str(self.rest()).into_iter::<T>();
        let value = stream.next().unwrap_or_else(|| Err(serde::de::Error::custom("nothing there")))?;
        self.at += stream.byte_offset();
        Ok(value)
    }

    /// The next value as it stands.
    pub(super) fn raw(&mut self) -> Result<&'a str, Syntax> {
        self.value::<&'a RawValue>().map(RawValue::get).map_err(|_| Syntax)
    }

    /// Passes over the next value.
    pub(super) fn skip(&mut self) -> Result<(), Syntax> {
        self.value::<IgnoredAny>().map(|_| ()).map_err(|_| Syntax)
    }
}
