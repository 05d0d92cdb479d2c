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
        if is_inside && message.len() <= SMALL.max(part.len() + part.len() / 4) {
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

/// How many values a JSON text has, with those inside others, and how many of them are objects. An empty object or array may
/// count twice.
pub(crate) fn count_values(json: &[u8]) -> (usize, usize) {
    let (mut count, mut objects, mut bytes) = (1, 0, json.iter());
    while let Some(byte) = bytes.next() {
        match byte {
            // Every value but the first of a text follows one of these.
            b',' | b'[' => count += 1,
            b'{' => (count, objects) = (count + 1, objects + 1),
            b'"' => {
                while bytes.next().is_some_and(|byte| *byte != b'"' && (*byte != b'\\' || bytes.next().is_some())) {}
            }
            _ => {}
        }
    }
    (count, objects)
}

/// About how much memory a JSON text takes while a call holds it, and the values that were read from it. Each number of it was
/// measured for [`serde_json::Value`]; most other types take less.
pub(crate) fn held_as_values(json: &str) -> usize {
    // What a shorter text takes is not counted, whatever it is.
    let (values, objects) = if json.len() > 48 { count_values(json.as_bytes()) } else { (0, 0) };
    json.len() * 9 / 4 + values * 96 + objects * 288
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_outside_of_strings() {
        for (json, values) in [
            ("1", 1),
            ("[1,2,[3]]", 5),
            (r#"{"a":1,"b":{"c":[]}}"#, 5),
            (r#"{"a,[{":"\\\",[{","b":"[\\"}"#, 3),
            (r#""unfinished \"#, 1),
        ] {
            assert!((values..=values + 1).contains(&count_values(json.as_bytes()).0), "{json}");
        }
        assert_eq!(count_values(&[b"[".repeat(9), b"]".repeat(9)].concat()), (10, 0));
        assert_eq!(count_values(br#"[{"":0},{"":{}}]"#).1, 3);
    }

    #[test]
    fn a3_h1_short_texts_of_many_values_weigh_what_they_take() {
        let objects = format!("[{}]", [r#"{"":0}"#; 142].join(","));
        assert!(objects.len() < 1024 && held_as_values(&objects) > 50_000, "{}", held_as_values(&objects));
        assert!(held_as_values("{}") < 100);
    }

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
