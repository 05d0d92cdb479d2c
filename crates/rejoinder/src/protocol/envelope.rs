//! A JSON-RPC message, read once from its bytes. Its values stay raw JSON until a method needs them.

use std::{borrow::Cow, cell::Cell, fmt};

use bytes::Bytes;
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor, value::MapAccessDeserializer},
};
use serde_json::{error::Category, value::RawValue};

use super::{RpcError, meta::Meta};
use crate::{argument::without_position, call::count_values};

/// The longest id, in bytes of JSON: every reply repeats it, and open requests keep it.
pub(super) const MAX_ID_LENGTH: usize = 1024;

/// A JSON-RPC request, notification or response.
#[derive(Debug, Default)]
pub(crate) struct Envelope<'a> {
    /// The id as JSON; a notification has none.
    pub(crate) id: Option<&'a str>,
    /// The method; a response has none.
    pub(crate) method: Option<Cow<'a, str>>,
    pub(crate) params: RequestParams<'a>,
    /// The result of a response.
    pub(crate) result: Option<&'a RawValue>,
    /// The error of a response.
    pub(crate) error: Option<&'a RawValue>,
}

/// Why a message has no envelope, with its id if that is readable.
#[derive(Debug)]
pub(crate) struct BadEnvelope {
    pub(crate) id: Option<String>,
    pub(crate) error: Box<RpcError>,
}

/// The most messages in a batch.
const MAX_BATCH: usize = 100;

/// The messages of a batch; `None` if this is not one, or a message in it is itself a batch.
pub(super) fn batch(body: &Bytes, most_values: usize) -> Option<Vec<Bytes>> {
    if has_more_values(body, most_values) {
        return None;
    }
    let messages: Vec<&RawValue> = serde_json::from_slice(body).ok()?;
    let is_batch =
        (1..=MAX_BATCH).contains(&messages.len()) && messages.iter().all(|message| message.get().starts_with('{'));
    is_batch.then(|| messages.iter().map(|message| body.slice_ref(message.get().as_bytes())).collect())
}

/// Whether there are more JSON values than that. Each takes two bytes or more, so most messages need not be looked at.
fn has_more_values(json: &[u8], most: usize) -> bool {
    json.len() / 2 > most && count_values(json).0 > most
}

/// A message as it is on the wire. Serde refuses fields that occur twice.
#[derive(Deserialize)]
struct WireMessage<'a> {
    #[serde(borrow)]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "null_is_a_value")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "null_is_a_value")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "params")]
    params: RequestParams<'a>,
    #[serde(borrow, default, deserialize_with = "null_is_a_value")]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// A request's `params`: the fields that methods share.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RequestParams<'a> {
    /// The message, for a method that has further fields.
    #[serde(skip)]
    message: &'a str,
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
    #[serde(borrow, default, rename = "_meta", deserialize_with = "meta")]
    pub(crate) meta: Option<Meta<'a>>,
}

/// Reads `params` from an object. Serde would also read a struct from an array.
fn params<'de, D: Deserializer<'de>>(deserializer: D) -> Result<RequestParams<'de>, D::Error> {
    struct ParamsVisitor;

    impl<'de> Visitor<'de> for ParamsVisitor {
        type Value = RequestParams<'de>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("`params` as an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RequestParams<'de>, A::Error> {
            RequestParams::deserialize(MapAccessDeserializer::new(map))
        }
    }

    deserializer.deserialize_map(ParamsVisitor)
}

/// A `_meta` that is `null` is an error, not a missing one.
fn meta<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Meta<'de>>, D::Error> {
    Meta::deserialize(deserializer).map(Some)
}

/// `Option` alone reads `null` as absent.
fn null_is_a_value<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    Deserialize::deserialize(deserializer).map(Some)
}

impl<'a> Envelope<'a> {
    /// The id of a message that is not read otherwise, if it is readable.
    pub(crate) fn read_id(bytes: &[u8]) -> Option<String> {
        find_id(&String::from_utf8_lossy(bytes)).map(str::to_owned)
    }

    /// The id of a message of which only the end is known: a member of the object that ends there.
    #[cfg(any(feature = "stdio", feature = "ws", feature = "sse"))]
    pub(crate) fn read_id_at_end(bytes: &[u8]) -> Option<String> {
        let text = String::from_utf8_lossy(bytes);
        text.match_indices("\"id\"").find_map(|(at, _)| {
            let rest = format!("{{{}", &text[at..]);
            serde_json::from_str::<IgnoredAny>(&rest).ok()?;
            find_id(&rest).map(str::to_owned)
        })
    }

    /// Reads a message of at most so many JSON values.
    pub(crate) fn read(bytes: &'a [u8], most_values: usize) -> Result<Self, BadEnvelope> {
        let text = if has_more_values(bytes, most_values) {
            Err(RpcError::invalid_request(format!("the message has more than {most_values} JSON values")))
        } else {
            std::str::from_utf8(bytes).map_err(|_| RpcError::parse())
        };
        text.and_then(Self::from_text).map_err(|error| BadEnvelope { id: Self::read_id(bytes), error: Box::new(error) })
    }

    fn from_text(text: &'a str) -> Result<Self, RpcError> {
        // Serde also reads a struct from an array.
        if !text.trim_ascii_start().starts_with('{') {
            return Err(not_an_object(text));
        }
        let mut message: WireMessage<'_> = serde_json::from_str(text).map_err(|error| data_error(&error))?;
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
        let method = method.transpose()?;
        message.params.message = text;
        Ok(Self { id, method, params: message.params, result: message.result, error: message.error })
    }
}

impl<'a> RequestParams<'a> {
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

    /// The id of a task. Few methods have one, so it is looked for.
    pub(crate) fn task_id(&self) -> Result<Cow<'a, str>, RpcError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct TaskParams<'a> {
            #[serde(borrow)]
            task_id: Option<&'a RawValue>,
        }
        let params: TaskParams<'a> = serde_json::from_str(self.whole()).map_err(|error| data_error(&error))?;
        required("taskId", params.task_id)
    }

    /// All of them, as JSON, for a method that has further fields. They are looked for when they are needed: most methods,
    /// and all calls, have none.
    pub(crate) fn whole(&self) -> &'a str {
        #[derive(Deserialize)]
        struct WholeParams<'a> {
            #[serde(borrow)]
            params: Option<&'a RawValue>,
        }
        let whole = serde_json::from_str::<WholeParams<'a>>(self.message).ok();
        whole.and_then(|whole| whole.params).map_or("{}", RawValue::get)
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
    if text.as_bytes().contains(&b'\\') {
        return serde_json::from_str(raw.get()).ok().map(Cow::Owned);
    }
    Some(Cow::Borrowed(text))
}

/// An id is a string or an integer, and comes back as it was sent. A string with half of a surrogate pair is neither: the
/// client could not read it in the reply.
fn check_id(raw: &str) -> Result<&str, RpcError> {
    let digits = raw.strip_prefix('-').unwrap_or(raw);
    let is_string = raw.starts_with('"') && (!raw.contains('\\') || serde_json::from_str::<Cow<'_, str>>(raw).is_ok());
    if !is_string && !digits.bytes().all(|byte| byte.is_ascii_digit()) {
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

/// All fields but `params` and `_meta` are raw, so the JSON is bad, a field occurs twice, or one of these is not an object.
fn data_error(error: &serde_json::Error) -> RpcError {
    let message = error.to_string();
    let message = without_position(&message).to_owned();
    match error.classify() {
        Category::Data if message.starts_with("duplicate field") => RpcError::invalid_request(message),
        Category::Data => RpcError::invalid_params(message),
        _ => RpcError::parse(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::error_code;

    fn refused(message: &str) -> (Option<String>, i32, String) {
        let bad = Envelope::read(message.as_bytes(), 100).expect_err(message);
        (bad.id, bad.error.code, bad.error.message.into_owned())
    }

    #[test]
    fn a_request_is_read_without_its_values() {
        let text = r#" {"jsonrpc":"2.0","id":"\u0061","method":"tools/c\u0061ll","other":[{}],
            "params":{"name":"a\"b","arguments":{"x":1e999},"requestState":null,"cursor":5,"more":{}}} "#;
        let envelope = Envelope::read(text.as_bytes(), 100).expect("a request");
        assert_eq!((envelope.id, envelope.method.as_deref()), (Some(r#""\u0061""#), Some("tools/call")));
        let params = envelope.params;
        assert_eq!(params.name().unwrap(), "a\"b");
        assert_eq!(params.arguments.map(RawValue::get), Some(r#"{"x":1e999}"#));
        assert!(params.request_state.is_none() && params.meta.is_none());
        assert_eq!(params.uri().unwrap_err().message, "`params.uri` is missing");
        assert_eq!(params.cursor().unwrap_err().message, "`params.cursor` must be a string");
    }

    #[test]
    fn a3_h1_a_message_has_a_limited_number_of_values() {
        let request = |values: usize| {
            let values = vec!["[]"; values].join(",");
            format!(r#"{{"jsonrpc":"2.0","id":7,"method":"a","params":{{"x":[{values}],"y":"[[,{{{{,"}}}}"#)
        };
        assert!(Envelope::read(request(45).as_bytes(), 100).is_ok());
        let (id, code, text) = refused(&request(101));
        let expected = (Some("7"), error_code::INVALID_REQUEST, "the message has more than 100 JSON values");
        assert_eq!((id.as_deref(), code, &*text), expected);
        let batch_of = |values: usize| batch(&Bytes::from(format!("[{}]", request(values))), 100);
        assert!(batch_of(40).is_some() && batch_of(101).is_none());
    }

    #[test]
    fn a_response_has_a_result_or_an_error() {
        let response = Envelope::read(br#"{"jsonrpc":"2.0","id":1,"result":null}"#, 100).expect("a response");
        assert_eq!((response.id, response.result.map(RawValue::get)), (Some("1"), Some("null")));
        let error = Envelope::read(br#"{"jsonrpc":"2.0","id":null,"error":{"code":1}}"#, 100).expect("a response");
        assert_eq!((error.id, error.error.map(RawValue::get)), (None, Some(r#"{"code":1}"#)));
        let both = refused(r#"{"jsonrpc":"2.0","id":1,"method":"a","result":1}"#);
        assert_eq!(both.1, error_code::INVALID_REQUEST);
    }

    #[test]
    fn the_id_of_a_bad_message_is_found() {
        for (rest, code) in [
            (r#""method":"a","params":[1]"#, error_code::INVALID_PARAMS),
            (r#""method":"a","params":null"#, error_code::INVALID_PARAMS),
            (r#""method":"a","params":{"_meta":[]}"#, error_code::INVALID_PARAMS),
            (r#""method":"a","params":{"name":1,"n\u0061me":2}"#, error_code::INVALID_REQUEST),
            (r#""method":"a","method":"b""#, error_code::INVALID_REQUEST),
            (r#""method":"\ud800""#, error_code::INVALID_REQUEST),
            (r#""method":null"#, error_code::INVALID_REQUEST),
        ] {
            for message in
                [format!(r#"{{"jsonrpc":"2.0",{rest},"id":7}}"#), format!(r#"{{"jsonrpc":"2.0","id":7,{rest}}}"#)]
            {
                let (id, found, text) = refused(&message);
                assert_eq!((id.as_deref(), found), (Some("7"), code), "{message}: {text}");
            }
        }
        assert_eq!(refused(r#"{"jsonrpc":"2.0","id":7,"method":"a"#).0.as_deref(), Some("7"));
        for bad in ["1.5", r#""\ud800""#] {
            let (id, code, text) = refused(&format!(r#"{{"jsonrpc":"2.0","id":{bad},"method":"a"}}"#));
            let expected = "`id` must be a string or an integer";
            assert_eq!((id, code, text.as_str()), (None, error_code::INVALID_REQUEST, expected), "{bad}");
        }
        let long = format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"a"}}"#, "x".repeat(MAX_ID_LENGTH));
        assert_eq!(refused(&long), (None, error_code::INVALID_REQUEST, "`id` is longer than 1024 bytes".to_owned()));
    }
}
