//! Strings without a copy: the name and the arguments of a call are parts of its message.

use std::{fmt, ops::Deref};

use bytes::Bytes;

/// A string that shares the buffer of the message that it came in.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Utf8Bytes(Bytes);

/// Parts always share a buffer up to this size.
const SMALL: usize = 4 * 1024;

impl Utf8Bytes {
    /// A part of a message. It shares the message's buffer, unless it would keep a much larger one alive.
    pub(crate) fn part(message: &Bytes, part: &str) -> Self {
        let is_inside = message.as_ptr_range().contains(&part.as_ptr());
        if is_inside && message.len() <= SMALL.max(2 * part.len()) {
            return Self(message.slice_ref(part.as_bytes()));
        }
        part.into()
    }
}

impl From<&str> for Utf8Bytes {
    fn from(text: &str) -> Self {
        Self(Bytes::copy_from_slice(text.as_bytes()))
    }
}

impl From<Utf8Bytes> for Bytes {
    fn from(text: Utf8Bytes) -> Self {
        text.0
    }
}

impl Deref for Utf8Bytes {
    type Target = str;

    fn deref(&self) -> &str {
        std::str::from_utf8(&self.0).expect("it was made of a string")
    }
}

impl fmt::Debug for Utf8Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_part_does_not_keep_a_large_message_alive() {
        let message = Bytes::from("name".to_owned() + &"x".repeat(100_000));
        let text = std::str::from_utf8(&message).expect("text").to_owned();
        let part = Utf8Bytes::part(&message, std::str::from_utf8(&message[..4]).expect("text"));
        assert_eq!(&*part, &text[..4]);
        assert!(message.is_unique());
        let message = Bytes::from("name".to_owned());
        let part = Utf8Bytes::part(&message, std::str::from_utf8(&message).expect("text"));
        assert!(!message.is_unique() && &*part == "name");
    }
}
