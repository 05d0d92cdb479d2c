//! A question: its request, the capability and version that it needs, and its digest.

use std::fmt;

use base64::{Engine as _, display::Base64Display, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::digest::{Context, SHA256};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error, ser::SerializeStruct};
use serde_json::{Map, Value, json, value::RawValue};

use super::Sampling;
use crate::{
    argument::MemberName,
    error::CallError,
    form::{Form, digest_of},
    model::version,
    request::{Capabilities, Era, RequestInfo},
};

/// A question, as the client gets it. It serialises as a request: its method and its params.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub(crate) enum Question {
    /// A form to fill in.
    Form {
        /// What the user reads.
        message: String,
        /// The form.
        form: Form,
    },
    /// A page to visit.
    Visit {
        /// What the user reads.
        message: String,
        /// Where the page is.
        url: String,
    },
    /// A sample of the client's model.
    Sample(Sampling),
    /// The client's roots.
    Roots,
}

impl Question {
    /// The method of the request.
    pub(crate) fn method(&self) -> &'static str {
        match self {
            Self::Form { .. } | Self::Visit { .. } => "elicitation/create",
            Self::Sample(_) => "sampling/createMessage",
            Self::Roots => "roots/list",
        }
    }

    /// What the user reads, if a user is asked.
    pub(crate) fn message(&self) -> Option<&str> {
        match self {
            Self::Form { message, .. } | Self::Visit { message, .. } => Some(message),
            Self::Sample(_) | Self::Roots => None,
        }
    }

    /// The params of the request, as JSON.
    pub(crate) fn params(&self) -> Value {
        serde_json::to_value(self.as_params()).unwrap_or_default()
    }

    fn as_params(&self) -> QuestionParams<'_> {
        match self {
            Self::Form { message, form } => QuestionParams::Form { mode: "form", message, schema: form.json() },
            Self::Visit { message, url } => QuestionParams::Visit { mode: "url", message, url },
            Self::Sample(sampling) => QuestionParams::Sample(sampling.params()),
            Self::Roots => QuestionParams::Roots {},
        }
    }

    /// Whether it can be asked again after an unusable answer: a user can correct a form, but a client that answers another
    /// kind of question will do so again.
    pub(crate) fn bears_repeating(&self, answer: &Value) -> bool {
        answer.get("action").is_some() && matches!(self, Self::Form { .. })
    }

    /// The same question, with the reason why the last answer cannot be used. Only users read messages.
    #[must_use]
    pub(crate) fn because(&self, reason: &str) -> Self {
        match self {
            Self::Form { message, form } => {
                Self::Form { message: format!("{message}\n\n{reason}"), form: form.clone() }
            }
            other => other.clone(),
        }
    }

    /// The capability that the question needs, if the client did not declare it.
    pub(crate) fn missing_capability(&self, declared: Capabilities) -> Option<Value> {
        match self {
            Self::Form { .. } => (!declared.forms).then(|| json!({ "elicitation": { "form": {} } })),
            Self::Visit { .. } => (!declared.urls).then(|| json!({ "elicitation": { "url": {} } })),
            Self::Roots => (!declared.roots).then(|| json!({ "roots": {} })),
            Self::Sample(sampling) => {
                let mut lacking = Map::new();
                if has_tools(sampling) && !declared.sampling_tools {
                    lacking.insert("tools".to_owned(), json!({}));
                }
                if has_context(sampling) && !declared.sampling_context {
                    lacking.insert("context".to_owned(), json!({}));
                }
                (!declared.sampling || !lacking.is_empty()).then(|| json!({ "sampling": lacking }))
            }
        }
    }
}

fn has_tools(sampling: &Sampling) -> bool {
    ["tools", "toolChoice"].iter().any(|field| sampling.params().contains_key(*field))
}

fn has_context(sampling: &Sampling) -> bool {
    sampling.params().get("includeContext").is_some_and(|context| context != "none")
}

/// The params of a request, borrowed.
#[derive(Serialize)]
#[serde(untagged)]
enum QuestionParams<'a> {
    Form {
        mode: &'static str,
        message: &'a str,
        #[serde(rename = "requestedSchema")]
        schema: &'a RawValue,
    },
    Visit {
        mode: &'static str,
        message: &'a str,
        url: &'a str,
    },
    Sample(&'a Map<String, Value>),
    Roots {},
}

impl Serialize for Question {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut request = serializer.serialize_struct("Question", 2)?;
        request.serialize_field("method", self.method())?;
        request.serialize_field("params", &self.as_params())?;
        request.end()
    }
}

/// The version that added elicitation.
const ELICITATION: &str = version::V2025_06_18;

/// The version that added multiple choice, titles of choices as `oneOf`, defaults for all fields, URLs, and sampling with
/// tools.
const RICHER_FORMS: &str = version::V2025_11_25;

impl Question {
    /// Why the client cannot be asked this, if it cannot: there is no session to ask it in, it did not declare the capability,
    /// or its session uses a version without it.
    pub(crate) fn out_of_reach(&self, request: &RequestInfo) -> Option<CallError> {
        if request.era == Era::Session && request.session_id.is_none() {
            return Some(CallError::no_session_to_ask_in());
        }
        if let Some(missing) = self.missing_capability(request.capabilities) {
            return Some(CallError::missing_capability(missing));
        }
        let speaks = &*request.protocol_version;
        if request.era != Era::Session || speaks >= RICHER_FORMS {
            return None;
        }
        let (what, since) = match self {
            Self::Form { form, .. } if form.to_older_value().is_none() => ("to choose several of a list", RICHER_FORMS),
            Self::Form { .. } => ("to fill in forms", ELICITATION),
            Self::Visit { .. } => ("to send the user to a page", RICHER_FORMS),
            Self::Sample(sampling) if has_tools(sampling) => ("to let its model use tools", RICHER_FORMS),
            Self::Sample(_) | Self::Roots => return None,
        };
        (speaks < since).then(|| CallError::too_old(what, speaks, since))
    }

    /// The params of the request, as JSON, for a session of this version.
    pub(crate) fn params_in(&self, version: &str) -> Value {
        let mut params = self.params();
        if let Self::Form { form, .. } = self
            && version < RICHER_FORMS
            && let (Some(params), Some(older)) = (params.as_object_mut(), form.to_older_value())
        {
            // Forms were the only mode.
            params.remove("mode");
            params.insert("requestedSchema".to_owned(), older);
        }
        params
    }
}

/// Identifies a question by its text and its form.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct QuestionDigest([u8; 20]);

impl Question {
    /// Its digest, with a text in place of the message if the answer is pinned to one.
    pub(crate) fn digest(&self, pinned_to: Option<&str>) -> QuestionDigest {
        let (kind, part, text) = match (self, pinned_to) {
            // The digest of a form is cached.
            (Self::Form { message, form }, _) => ("form", *form.digest(), pinned_to.unwrap_or(message)),
            (Self::Visit { url, .. }, Some(text)) => ("url", digest_of(url.as_str().into()), text),
            (_, Some(text)) => (self.method(), [0; 32], text),
            (_, None) => (self.method(), digest_of(self.params()), ""),
        };
        let mut hash = Context::new(&SHA256);
        // It is as long as the result, and a short text fits into the same block.
        for part in [kind.as_bytes(), &[pinned_to.is_some().into()], &part[..20], text.as_bytes()] {
            hash.update(part);
        }
        let digest = hash.finish();
        QuestionDigest(std::array::from_fn(|index| digest.as_ref()[index]))
    }
}

/// In 27 characters, because a stateless client carries it.
impl Serialize for QuestionDigest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&Base64Display::new(&self.0, &URL_SAFE_NO_PAD))
    }
}

impl<'de> Deserialize<'de> for QuestionDigest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let MemberName(text) = MemberName::deserialize(deserializer)?;
        // The decoder wants room for whole groups of three bytes.
        let mut bytes = [0; 21];
        let decoded =
            URL_SAFE_NO_PAD.decode_slice(&*text, &mut bytes).ok().and_then(|length| bytes[..length].try_into().ok());
        decoded.map(Self).ok_or_else(|| D::Error::custom("not the digest of a question"))
    }
}

impl fmt::Debug for QuestionDigest {
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

    fn form(message: &str, form: Form) -> QuestionDigest {
        Question::Form { message: message.to_owned(), form }.digest(None)
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
            Question::Visit { message: "Sure?".to_owned(), url: "https://a.example".to_owned() }.digest(None),
            Question::Visit { message: "Sure?".to_owned(), url: "https://b.example".to_owned() }.digest(None),
            Question::Sample(Sampling::new("Sure?")).digest(None),
            Question::Roots.digest(None),
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
        let digest = Question::Roots.digest(None);
        let written = serde_json::to_value(digest).expect("a text");
        assert_eq!(written.as_str().map(str::len), Some(27));
        assert_eq!(serde_json::from_value::<QuestionDigest>(written).expect("what was written"), digest);
        for other in [json!(""), json!("AAAA"), json!("A".repeat(28)), json!("A".repeat(400)), json!("*"), json!(1)] {
            serde_json::from_value::<QuestionDigest>(other).unwrap_err();
        }
    }
}
