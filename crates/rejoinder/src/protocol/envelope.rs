//! A JSON-RPC message, read once from its bytes. Its values stay raw JSON until a method needs them.

use std::{borrow::Cow, cell::Cell, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::{error::Category, value::RawValue};

use super::{RpcError, meta::Meta};
use crate::call::without_position;

/// The longest id, in bytes of JSON: every reply repeats it, and open requests keep it.
pub(super) const MAX_ID_LENGTH: usize = 1024;

/// A JSON-RPC request, notification or response.
#[derive(Debug, Default)]
pub(crate) struct Envelope<'a> {
    /// The id as JSON; a notification has none.
    pub(crate) id: Option<&'a str>,
    /// The method; a response has none.
    pub(crate) method: Option<Cow<'a, str>>,
    pub(crate) params: Params<'a>,
    /// The result of a response.
    #[allow(dead_code, reason = "for sessions")]
    pub(crate) result: Option<&'a RawValue>,
    /// The error of a response.
    #[allow(dead_code, reason = "for sessions")]
    pub(crate) error: Option<&'a RawValue>,
}

/// Why a message has no envelope, with its id if that is readable.
#[derive(Debug)]
pub(crate) struct BadEnvelope<'a> {
    pub(crate) id: Option<Cow<'a, str>>,
    pub(crate) error: Box<RpcError>,
}

/// A message as it is on the wire. Serde refuses fields that occur twice.
#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "null_is_a_value")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "null_is_a_value")]
    method: Option<&'a RawValue>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "null_is_a_value")]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// A request's `params`: the fields that methods share.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Params<'a> {
    /// All of it, as JSON.
    #[serde(skip)]
    pub(crate) raw: Option<&'a str>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    uri: Option<&'a RawValue>,
    #[serde(borrow)]
    cursor: Option<&'a RawValue>,
    /// The arguments of a call.
    #[serde(borrow)]
    pub(crate) arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) request_state: Option<&'a RawValue>,
    /// The answers to the questions of the last round.
    #[serde(borrow)]
    pub(crate) input_responses: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta")]
    raw_meta: Option<&'a RawValue>,
    #[serde(skip)]
    pub(crate) meta: Option<Meta<'a>>,
}

/// `Option` alone reads `null` as absent.
pub(super) fn null_is_a_value<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    Deserialize::deserialize(deserializer).map(Some)
}

impl<'a> Envelope<'a> {
    /// Reads a message.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, BadEnvelope<'a>> {
        let Ok(text) = std::str::from_utf8(bytes) else {
            let id = find_id(&String::from_utf8_lossy(bytes)).map(|id| Cow::Owned(id.to_owned()));
            return Err(BadEnvelope { id, error: Box::new(RpcError::parse()) });
        };
        Self::from_text(text)
            .map_err(|error| BadEnvelope { id: find_id(text).map(Cow::Borrowed), error: Box::new(error) })
    }

    fn from_text(text: &'a str) -> Result<Self, RpcError> {
        // Serde also reads a struct from an array.
        if !text.trim_ascii_start().starts_with('{') {
            return Err(not_an_object(text));
        }
        let message: Message<'_> =
            serde_json::from_str(text).map_err(|error| duplicate_field(&error, "the message"))?;
        if message.jsonrpc.is_none_or(|version| version.get() != "\"2.0\"") {
            return Err(RpcError::invalid_request("`jsonrpc` must be \"2.0\""));
        }
        let is_response = message.result.is_some() || message.error.is_some();
        let id = match message.id.map(RawValue::get) {
            // The response to a request whose id was not readable.
            Some("null") if is_response => None,
            id => id.map(check_id).transpose()?,
        };
        let method = message
            .method
            .map(|method| string(method).ok_or_else(|| RpcError::invalid_request("`method` must be a string")));
        match (&method, is_response) {
            (None, false) => return Err(RpcError::invalid_request("`method` is missing")),
            (Some(_), true) => {
                return Err(RpcError::invalid_request(
                    "a message with a `method` cannot have a `result` or an `error`",
                ));
            }
            _ => {}
        }
        let params = message.params.map(Params::read).transpose()?.unwrap_or_default();
        Ok(Self { id, method: method.transpose()?, params, result: message.result, error: message.error })
    }
}

impl<'a> Params<'a> {
    fn read(raw: &'a RawValue) -> Result<Self, RpcError> {
        if !raw.get().starts_with('{') {
            return Err(RpcError::invalid_params("`params` must be an object"));
        }
        let mut params: Self = serde_json::from_str(raw.get()).map_err(|error| duplicate_field(&error, "`params`"))?;
        params.raw = Some(raw.get());
        params.meta = params.raw_meta.map(Meta::read).transpose()?;
        Ok(params)
    }

    /// The name of a tool or prompt.
    pub(crate) fn name(&self) -> Result<Cow<'a, str>, RpcError> {
        required("name", self.name)
    }

    /// The URI of a resource.
    pub(crate) fn uri(&self) -> Result<Cow<'a, str>, RpcError> {
        required("uri", self.uri)
    }

    /// The page of a list.
    pub(crate) fn cursor(&self) -> Result<Option<Cow<'a, str>>, RpcError> {
        optional("cursor", self.cursor)
    }
}

fn required<'a>(name: &str, raw: Option<&'a RawValue>) -> Result<Cow<'a, str>, RpcError> {
    optional(name, raw)?.ok_or_else(|| RpcError::invalid_params(format!("`params.{name}` is missing")))
}

fn optional<'a>(name: &str, raw: Option<&'a RawValue>) -> Result<Option<Cow<'a, str>>, RpcError> {
    let wrong = || RpcError::invalid_params(format!("`params.{name}` must be a string"));
    raw.map(|raw| string(raw).ok_or_else(wrong)).transpose()
}

/// The text of a JSON string; `None` for any other value, and for half of a surrogate pair.
pub(super) fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    let text = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    if text.contains('\\') {
        return serde_json::from_str(raw.get()).ok().map(Cow::Owned);
    }
    Some(Cow::Borrowed(text))
}

/// An id is a string or an integer, and comes back as it was sent.
fn check_id(raw: &str) -> Result<&str, RpcError> {
    let digits = raw.strip_prefix('-').unwrap_or(raw);
    if !raw.starts_with('"') && !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(RpcError::invalid_request("`id` must be a string or an integer"));
    }
    if raw.len() > MAX_ID_LENGTH {
        return Err(RpcError::invalid_request(format!("`id` is longer than {MAX_ID_LENGTH} bytes")));
    }
    Ok(raw)
}

/// The id of a message that is wrong before or after it, wherever it is readable.
fn find_id(text: &str) -> Option<&str> {
    struct FindId<'c, 'de>(&'c Cell<Option<&'de RawValue>>);

    impl<'de> Visitor<'de> for FindId<'_, 'de> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
            while let Some(key) = map.next_key::<Cow<'_, str>>()? {
                if key != "id" {
                    map.next_value::<IgnoredAny>()?;
                } else {
                    self.0.set(Some(map.next_value()?));
                    break;
                }
            }
            Ok(())
        }
    }

    let found = Cell::new(None);
    // What else is wrong with the message is known already.
    let _ = serde_json::Deserializer::from_str(text).deserialize_map(FindId(&found));
    check_id(found.get()?.get()).ok()
}

fn not_an_object(text: &str) -> RpcError {
    match serde_json::from_str::<IgnoredAny>(text) {
        Err(_) => RpcError::parse(),
        Ok(_) if text.trim_ascii_start().starts_with('[') => {
            RpcError::invalid_request("batches are not supported: send one message per request")
        }
        Ok(_) => RpcError::invalid_request("the message must be a JSON object"),
    }
}

/// The error of a struct whose fields are all raw and optional: bad JSON, or a field that occurs twice.
fn duplicate_field(error: &serde_json::Error, place: &str) -> RpcError {
    match error.classify() {
        Category::Data => RpcError::invalid_request(format!("{} in {place}", without_position(&error.to_string()))),
        _ => RpcError::parse(),
    }
}
