//! One message, read once from its bytes.

use std::borrow::Cow;

use super::{
    RpcError,
    params::{Field, Params},
    scan::{Scan, Syntax},
};

/// A JSON-RPC message whose outer shape is right.
#[derive(Debug, Default)]
pub(crate) struct Envelope<'a> {
    /// The id as JSON; a notification has none.
    pub(crate) id: Option<&'a str>,
    /// The method; a response has none.
    pub(crate) method: Option<Cow<'a, str>>,
    pub(crate) params: Params<'a>,
}

/// Why a message has no envelope, with its id where that could be read.
pub(crate) struct BadEnvelope<'a> {
    pub(crate) id: Option<Cow<'a, str>>,
    pub(crate) error: Box<RpcError>,
}

impl<'a> Envelope<'a> {
    /// Reads a message.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, BadEnvelope<'a>> {
        let Ok(text) = std::str::from_utf8(bytes) else {
            let id = find_id(&String::from_utf8_lossy(bytes)).map(|id| Cow::Owned(id.to_owned()));
            return Err(BadEnvelope { id, error: Box::new(Syntax.into()) });
        };
        let mut envelope = Self::default();
        let mut state = State { jsonrpc: false, response: false, null_id: false, seen: 0 };
        let read = envelope.fill(text, &mut state).and_then(|()| envelope.check(&state));
        match read {
            Ok(()) => Ok(envelope),
            Err(error) => Err(BadEnvelope {
                id: envelope.id.or_else(|| find_id(text)).map(Cow::Borrowed),
                error: Box::new(error),
            }),
        }
    }

    fn fill(&mut self, text: &'a str, state: &mut State) -> Result<(), RpcError> {
        let mut scan = Scan::new(text);
        if !scan.open() {
            return Err(not_an_object(text));
        }
        let mut first = true;
        while let Some(key) = scan.key(&mut first)? {
            let known = ["jsonrpc", "id", "method", "params", "result", "error"].iter().position(|known| *known == key);
            state.once(known, &key)?;
            match &*key {
                "jsonrpc" => state.jsonrpc = scan.raw()? == "\"2.0\"",
                "id" => match scan.raw()? {
                    "null" => state.null_id = true,
                    raw => self.id = Some(id(raw)?),
                },
                "method" => match Field::read(&mut scan)? {
                    Field::Given(method) => self.method = Some(method),
                    _ => return Err(RpcError::invalid_request("`method` must be a string")),
                },
                "params" => self.params.fill(&mut scan, state)?,
                "result" | "error" => {
                    state.response = true;
                    scan.skip()?;
                }
                _ => scan.skip()?,
            }
        }
        if scan.is_done() { Ok(()) } else { Err(Syntax.into()) }
    }

    fn check(&self, state: &State) -> Result<(), RpcError> {
        if !state.jsonrpc {
            return Err(RpcError::invalid_request("`jsonrpc` must be \"2.0\""));
        }
        if state.null_id && !state.response {
            return Err(bad_id());
        }
        match (&self.method, state.response) {
            (None, false) => Err(RpcError::invalid_request("`method` is missing")),
            (Some(_), true) => Err(RpcError::invalid_request("a message is a request or a response, not both")),
            _ => Ok(()),
        }
    }
}

/// What reading needs to remember.
pub(super) struct State {
    jsonrpc: bool,
    response: bool,
    /// Only the answer to a message that could not be read has one.
    null_id: bool,
    seen: u32,
}

impl State {
    /// Two values for one field would leave it to each reader which one counts.
    pub(super) fn once(&mut self, field: Option<usize>, name: &str) -> Result<(), RpcError> {
        let Some(field) = field else { return Ok(()) };
        let bit = 1 << field;
        if self.seen & bit != 0 {
            return Err(RpcError::invalid_request(format!("`{name}` is there twice")));
        }
        self.seen |= bit;
        Ok(())
    }
}

/// The longest id, in bytes of JSON: every reply repeats it, and what stays open keeps it.
pub(super) const LONGEST_ID: usize = 1024;

/// An id is a string or an integer, and comes back as it was sent.
fn id(raw: &str) -> Result<&str, RpcError> {
    let digits = raw.strip_prefix('-').unwrap_or(raw);
    if !raw.starts_with('"') && (digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit())) {
        return Err(bad_id());
    }
    if raw.len() > LONGEST_ID {
        return Err(RpcError::invalid_request(format!("`id` is longer than {LONGEST_ID} bytes")));
    }
    Ok(raw)
}

fn bad_id() -> RpcError {
    RpcError::invalid_request("`id` must be a string or an integer")
}

/// The id of a message that could not be read to its end: it may come after what is wrong.
fn find_id(text: &str) -> Option<&str> {
    let mut scan = Scan::new(text);
    let mut first = true;
    if !scan.open() {
        return None;
    }
    while let Some(key) = scan.key(&mut first).ok()? {
        if key == "id" {
            return id(scan.raw().ok()?).ok();
        }
        scan.skip().ok()?;
    }
    None
}

fn not_an_object(text: &str) -> RpcError {
    match serde_json::from_str::<serde::de::IgnoredAny>(text) {
        Err(_) => Syntax.into(),
        Ok(_) if text.trim_ascii_start().starts_with('[') => {
            RpcError::invalid_request("batches are not part of this protocol: send one message")
        }
        Ok(_) => RpcError::invalid_request("a message is a JSON object"),
    }
}

impl From<Syntax> for RpcError {
    fn from(_: Syntax) -> Self {
        Self::new(Self::PARSE, "the message is not valid JSON in UTF-8")
    }
}
