//! One message, read once from its bytes.

use std::{borrow::Cow, sync::Arc};

use rejoinder_core::{item::Ready, model::CallToolResult};

use super::{
    RpcError,
    error::shortened,
    scan::{Scan, Syntax},
};
use crate::server::{Engine, ToolEntry};

/// A JSON-RPC message whose outer shape is right.
#[derive(Debug, Default)]
pub(crate) struct Envelope<'a> {
    /// The id as JSON; a notification has none.
    pub(crate) id: Option<&'a str>,
    /// The method; a response has none.
    pub(crate) method: Option<Cow<'a, str>>,
    pub(crate) params: Params<'a>,
}

/// A request's `params`, as far as every method shares them.
#[derive(Debug, Default)]
pub(crate) struct Params<'a> {
    /// All of it, as JSON.
    pub(crate) raw: Option<&'a str>,
    pub(crate) name: Field<Cow<'a, str>>,
    pub(crate) uri: Field<Cow<'a, str>>,
    pub(crate) cursor: Field<Cow<'a, str>>,
    pub(crate) arguments: Arguments<'a>,
    /// The tool that is called, where that was known in time to read its arguments.
    pub(crate) tool: Option<Arc<ToolEntry>>,
    pub(crate) request_state: Field<Cow<'a, str>>,
    /// The answers to what the last round asked, as JSON.
    pub(crate) input_responses: Option<&'a str>,
    pub(crate) meta: Option<Meta<'a>>,
}

/// A field that may be absent, or of the wrong type.
#[derive(Debug, Default)]
pub(crate) enum Field<T> {
    #[default]
    Absent,
    Wrong,
    Given(T),
}

/// The arguments of a call.
#[derive(Debug, Default)]
pub(crate) enum Arguments<'a> {
    #[default]
    Absent,
    /// As JSON.
    Raw(&'a str),
    /// Already read, for the tool of that name, into its parameters' types.
    Ready(Ready<CallToolResult>, &'a str),
}

impl<'a> Arguments<'a> {
    /// The arguments as JSON, if there are any.
    pub(crate) fn raw(&self) -> Option<&'a str> {
        match self {
            Self::Absent => None,
            Self::Raw(raw) | Self::Ready(_, raw) => Some(raw),
        }
    }
}

/// A request's `_meta`, values as JSON.
#[derive(Debug, Default)]
pub(crate) struct Meta<'a> {
    pub(crate) raw: &'a str,
    pub(crate) version: Option<&'a str>,
    pub(crate) capabilities: Option<&'a str>,
    pub(crate) client: Option<&'a str>,
    /// Whether that has the texts that a `clientInfo` must have.
    pub(crate) is_client: bool,
    pub(crate) log_level: Option<&'a str>,
    pub(crate) progress_token: Option<&'a str>,
}

/// Why a message has no envelope, with its id where that could be read.
pub(crate) struct BadEnvelope<'a> {
    pub(crate) id: Option<Cow<'a, str>>,
    pub(crate) error: Box<RpcError>,
}

impl<'a> Envelope<'a> {
    /// Reads a message.
    pub(crate) fn read(bytes: &'a [u8], engine: &Engine) -> Result<Self, BadEnvelope<'a>> {
        let Ok(text) = std::str::from_utf8(bytes) else {
            let id = find_id(&String::from_utf8_lossy(bytes)).map(|id| Cow::Owned(id.to_owned()));
            return Err(BadEnvelope { id, error: Box::new(Syntax.into()) });
        };
        let mut envelope = Self::default();
        let mut state = State { engine, jsonrpc: false, response: false, null_id: false, seen: 0 };
        let read = envelope.fill(text, &mut state).and_then(|()| envelope.check(&state));
        match read {
            Ok(()) => Ok(envelope),
            Err(error) => Err(BadEnvelope {
                id: envelope.id.or_else(|| find_id(text)).map(Cow::Borrowed),
                error: Box::new(error),
            }),
        }
    }

    fn fill(&mut self, text: &'a str, state: &mut State<'_>) -> Result<(), RpcError> {
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
                "params" => self.params.fill(&mut scan, self.method.as_deref(), state)?,
                "result" | "error" => {
                    state.response = true;
                    scan.skip()?;
                }
                _ => scan.skip()?,
            }
        }
        if scan.is_done() { Ok(()) } else { Err(Syntax.into()) }
    }

    fn check(&self, state: &State<'_>) -> Result<(), RpcError> {
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
struct State<'e> {
    engine: &'e Engine,
    jsonrpc: bool,
    response: bool,
    /// Only the answer to a message that could not be read has one.
    null_id: bool,
    seen: u32,
}

impl State<'_> {
    /// Two values for one field would leave it to each reader which one counts.
    fn once(&mut self, field: Option<usize>, name: &str) -> Result<(), RpcError> {
        let Some(field) = field else { return Ok(()) };
        let bit = 1 << field;
        if self.seen & bit != 0 {
            return Err(RpcError::invalid_request(format!("`{name}` is there twice")));
        }
        self.seen |= bit;
        Ok(())
    }
}

impl<'a> Params<'a> {
    fn fill(&mut self, scan: &mut Scan<'a>, method: Option<&str>, state: &mut State<'_>) -> Result<(), RpcError> {
        scan.peek();
        let start = scan.clone();
        if !scan.open() {
            scan.skip()?;
            return Err(RpcError::invalid_params("`params` must be an object"));
        }
        let mut first = true;
        while let Some(key) = scan.key(&mut first)? {
            let known = ["name", "uri", "cursor", "arguments", "_meta", "requestState", "inputResponses"]
                .iter()
                .position(|known| *known == key);
            state.once(known.map(|known| known + 8), &key)?;
            match &*key {
                "name" => self.name = Field::read(scan)?,
                "uri" => self.uri = Field::read(scan)?,
                "cursor" => self.cursor = Field::read(scan)?,
                "arguments" => self.arguments(scan, method, state)?,
                "_meta" => self.meta = Some(Meta::read(scan)?),
                "requestState" => self.request_state = Field::read(scan)?,
                "inputResponses" => self.input_responses = Some(scan.raw()?).filter(|raw| *raw != "null"),
                _ => scan.skip()?,
            }
        }
        self.raw = Some(scan.since(&start));
        Ok(())
    }

    /// Where the tool is known by now, its arguments are read into its parameters' types at once.
    fn arguments(&mut self, scan: &mut Scan<'a>, method: Option<&str>, state: &State<'_>) -> Result<(), RpcError> {
        scan.peek();
        if let (Some("tools/call"), Field::Given(name)) = (method, &self.name) {
            self.tool = state.engine.tool(name);
        }
        let reader = self.tool.as_ref().map(|entry| entry.tool.reader());
        if let Some((ready, length)) = reader.and_then(|reader| reader.read(scan.rest())) {
            self.arguments = Arguments::Ready(ready, &scan.rest()[..length]);
            scan.advance(length);
            return Ok(());
        }
        self.arguments = match scan.raw()? {
            "null" => Arguments::Absent,
            raw => Arguments::Raw(raw),
        };
        Ok(())
    }
}

impl<'a> Field<Cow<'a, str>> {
    fn read(scan: &mut Scan<'a>) -> Result<Self, RpcError> {
        match scan.string() {
            Ok(text) => Ok(Self::Given(text)),
            Err(_) => Ok(if scan.raw()? == "null" { Self::Absent } else { Self::Wrong }),
        }
    }

    /// The text of a field that must be there.
    pub(crate) fn required(&self, name: &'static str) -> Result<&str, RpcError> {
        self.optional(name)?.ok_or_else(|| RpcError::invalid_params(format!("`params.{name}` is missing")))
    }

    /// The text of a field that may be absent.
    pub(crate) fn optional(&self, name: &'static str) -> Result<Option<&str>, RpcError> {
        match self {
            Self::Absent => Ok(None),
            Self::Wrong => Err(RpcError::invalid_params(format!("`params.{name}` must be a string"))),
            Self::Given(text) => Ok(Some(text)),
        }
    }
}

impl<'a> Meta<'a> {
    fn read(scan: &mut Scan<'a>) -> Result<Self, RpcError> {
        scan.peek();
        let start = scan.clone();
        if !scan.open() {
            scan.skip()?;
            return Err(RpcError::invalid_params("`params._meta` must be an object"));
        }
        let (mut meta, mut first) = (Self::default(), true);
        while let Some(key) = scan.key(&mut first)? {
            let (field, value) = match &*key {
                "io.modelcontextprotocol/protocolVersion" => (&mut meta.version, scan.raw()?),
                "io.modelcontextprotocol/clientCapabilities" => (&mut meta.capabilities, scan.raw()?),
                "io.modelcontextprotocol/clientInfo" => {
                    let client;
                    (client, meta.is_client) = client_info(scan)?;
                    (&mut meta.client, client)
                }
                "io.modelcontextprotocol/logLevel" => (&mut meta.log_level, scan.raw()?),
                "progressToken" => (&mut meta.progress_token, scan.raw()?),
                _ => {
                    scan.skip()?;
                    continue;
                }
            };
            if field.replace(value).is_some() {
                return Err(RpcError::invalid_params(format!("`params._meta` has `{}` twice", shortened(&key))));
            }
        }
        meta.raw = scan.since(&start);
        Ok(meta)
    }
}

/// A `clientInfo`, and whether it is an object with the texts `name` and `version`, each once.
fn client_info<'a>(scan: &mut Scan<'a>) -> Result<(&'a str, bool), RpcError> {
    scan.peek();
    let start = scan.clone();
    if !scan.open() {
        return Ok((scan.raw()?, false));
    }
    let (mut names, mut versions, mut texts, mut first) = (0, 0, true, true);
    while let Some(key) = scan.key(&mut first)? {
        match &*key {
            "name" => names += 1,
            "version" => versions += 1,
            _ => {
                scan.skip()?;
                continue;
            }
        }
        texts &= matches!(Field::read(scan)?, Field::Given(_));
    }
    Ok((scan.since(&start), texts && (names, versions) == (1, 1)))
}

/// An id is a string or an integer, and comes back as it was sent.
fn id(raw: &str) -> Result<&str, RpcError> {
    let digits = raw.strip_prefix('-').unwrap_or(raw);
    if raw.starts_with('"') || (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())) {
        return Ok(raw);
    }
    Err(bad_id())
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
