//! Walks through a JSON object without building it.
//!
//! The values are read by `serde_json`, each by whoever knows its type, straight from the body: a call's arguments
//! are read once, into the types of its parameters, however large they are.

use std::{borrow::Cow, ops::Range};

use serde::Deserialize;
use serde::de::IgnoredAny;

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

    /// The next byte that is not white space.
    pub(super) fn peek(&mut self) -> Option<u8> {
        while let Some(byte) = self.text.as_bytes().get(self.at) {
            // White space is rare, and none of it lies above the space.
            if *byte > b' ' || !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
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
        let key = self.string()?;
        if self.eat(b':') { Ok(Some(key)) } else { Err(Syntax) }
    }

    /// The next value, a string; where it is none that can be read, the place is as it was.
    pub(super) fn string(&mut self) -> Result<Cow<'a, str>, Syntax> {
        if let Some(inner) = self.plain_string() {
            return Ok(Cow::Borrowed(&self.text[inner]));
        }
        self.value::<String>().map(Cow::Owned).map_err(|_| Syntax)
    }

    /// Passes over a string without escapes, as nearly every one is; where it is, without its quotes.
    fn plain_string(&mut self) -> Option<Range<usize>> {
        if self.peek() != Some(b'"') {
            return None;
        }
        let (bytes, start) = (self.text.as_bytes(), self.at + 1);
        let end = start + plain(&bytes[start..]);
        if bytes.get(end) != Some(&b'"') {
            return None;
        }
        self.at = end + 1;
        Some(start..end)
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
        if let Some(inner) = self.plain_string() {
            return Ok(&self.text[inner.start - 1..=inner.end]);
        }
        let start = self.clone();
        self.skip()?;
        Ok(self.since(&start))
    }

    /// Passes over the next value.
    pub(super) fn skip(&mut self) -> Result<(), Syntax> {
        self.value::<IgnoredAny>().map(|_| ()).map_err(|_| Syntax)
    }
}

/// How many bytes come before the first that a string cannot have as it stands: a quote, a backslash, a control
/// character. Eight bytes are looked at in one go.
fn plain(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
    const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);
    // The high bit of each byte below `limit`; what it says of bytes behind the first one found may be wrong.
    let below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word & HIGHS;
    let is = |word: u64, byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    let (words, _) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let found = below(word, 0x20) | is(word, b'"') | is(word, b'\\');
        if found != 0 {
            return index * 8 + found.trailing_zeros() as usize / 8;
        }
    }
    let start = words.len() * 8;
    let rest = bytes[start..].iter().position(|&byte| byte < 0x20 || byte == b'"' || byte == b'\\');
    rest.map_or(bytes.len(), |at| start + at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    use super::*;

    proptest! {
        #[test]
        fn plain_bytes_end_where_one_by_one_they_would(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let expected = bytes.iter().position(|&byte| byte < 0x20 || byte == b'"' || byte == b'\\');
            prop_assert_eq!(plain(&bytes), expected.unwrap_or(bytes.len()));
        }

        #[test]
        fn a_string_is_what_serde_json_makes_of_it(text in "[\\PC\"\\\\]{0,24}", tail in "[ ,}x\"]{0,3}") {
            for json in [serde_json::to_string(&text).expect("text"), format!("\"{text}\""), text] {
                let json = format!("{json}{tail}");
                let expected = serde_json::Deserializer::from_str(&json).into_iter::<String>().next();
                prop_assert_eq!(Scan::new(&json).string().ok().map(Cow::into_owned), expected.and_then(Result::ok));
                let expected = serde_json::Deserializer::from_str(&json).into_iter::<&RawValue>().next();
                prop_assert_eq!(Scan::new(&json).raw().ok(), expected.and_then(Result::ok).map(RawValue::get));
            }
        }
    }
}
