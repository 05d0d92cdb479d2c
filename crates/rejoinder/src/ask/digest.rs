use std::fmt;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, Unexpected, Visitor},
};
use sha2::{Digest as _, Sha256};

use super::Question;
use crate::form::digest_of;

/// What tells one question from another: every word of it, and nothing of how it is written down.
///
/// ```
/// use rejoinder::Question;
///
/// let visit = |url: &str| Question::Visit { message: "Log in.".into(), url: url.into() }.digest();
/// assert_eq!(visit("https://a.example"), visit("https://a.example"));
/// assert_ne!(visit("https://a.example"), visit("https://b.example"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Digest([u8; 16]);

impl Question {
    /// What tells it from another.
    pub fn digest(&self) -> Digest {
        let mut hash = Sha256::new_with_prefix("rejoinder/question/v3\0");
        match self {
            // Most questions are forms, and most of a form is the same whenever it is asked for.
            Self::Form { message, form } => {
                hash.update(b"form\0");
                hash.update(form.digest());
                hash.update(message);
            }
            Self::Visit { .. } | Self::Sample(_) | Self::Roots => {
                hash.update(self.method());
                hash.update(b"\0");
                hash.update(digest_of(&self.params()));
            }
        }
        let mut digest = [0; 16];
        digest.copy_from_slice(&hash.finalize()[..16]);
        Digest(digest)
    }
}

/// As it is written into a state: 22 characters.
const LENGTH: usize = 22;

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = [0; LENGTH];
        let length = URL_SAFE_NO_PAD.encode_slice(self.0, &mut text).map_err(serde::ser::Error::custom)?;
        serializer.serialize_str(std::str::from_utf8(&text[..length]).map_err(serde::ser::Error::custom)?)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Text)
    }
}

struct Text;

impl Visitor<'_> for Text {
    type Value = Digest;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a digest of {LENGTH} characters")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Digest, E> {
        // The decoder wants room for whole groups of four characters.
        let mut bytes = [0; 18];
        match URL_SAFE_NO_PAD.decode_slice(text, &mut bytes) {
            Ok(16) => Ok(Digest(std::array::from_fn(|index| bytes[index]))),
            _ => Err(E::invalid_value(Unexpected::Str(text), &self)),
        }
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(self.0))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        ask::Sampling,
        form::{Field, Form},
    };

    fn form(message: &str, form: Form) -> Digest {
        Question::Form { message: message.to_owned(), form }.digest()
    }

    #[test]
    fn every_word_of_a_question_counts() {
        let yes = || Form::new().with(&Field::<bool>::new("yes"));
        let asked = form("Sure?", yes());
        assert_eq!(form("Sure?", yes()), asked);
        let others = [
            form("Sure", yes()),
            form("Sure?", Form::new()),
            form("Sure?", Form::new().with(&Field::<String>::new("yes"))),
            form("Sure?", Form::new().with(&Field::<bool>::new("yes").title("Yes"))),
            Question::Visit { message: "Sure?".to_owned(), url: "https://a.example".to_owned() }.digest(),
            Question::Visit { message: "Sure?".to_owned(), url: "https://b.example".to_owned() }.digest(),
            Question::Sample(Sampling::new("Sure?")).digest(),
            Question::Roots.digest(),
        ];
        for (index, other) in others.iter().enumerate() {
            assert_ne!(*other, asked);
            assert!(!others[..index].contains(other));
        }
    }

    #[test]
    fn a_form_that_got_another_field_is_another() {
        let one = Form::new().with(&Field::<bool>::new("yes"));
        let before = form("Sure?", one.clone());
        let two = one.clone().with(&Field::<bool>::new("really"));
        assert_ne!(form("Sure?", two.clone()), before);
        assert_eq!(form("Sure?", one), before);
        assert!(two.json().get().contains("really"));
    }

    #[test]
    fn it_is_read_as_it_was_written() {
        let digest = Question::Roots.digest();
        let written = serde_json::to_value(digest).expect("a text");
        assert_eq!(written.as_str().map(str::len), Some(LENGTH));
        assert_eq!(serde_json::from_value::<Digest>(written).expect("what was written"), digest);
        for other in [json!(""), json!("AAAA"), json!("A".repeat(23)), json!("A".repeat(400)), json!("*"), json!(1)] {
            serde_json::from_value::<Digest>(other).unwrap_err();
        }
    }
}
