use std::borrow::Cow;

use super::{RpcError, envelope::State, meta::Meta, scan::Scan};

/// A request's `params`, as far as every method shares them.
#[derive(Debug, Default)]
pub(crate) struct Params<'a> {
    /// All of it, as JSON.
    pub(crate) raw: Option<&'a str>,
    pub(crate) name: Field<Cow<'a, str>>,
    pub(crate) uri: Field<Cow<'a, str>>,
    pub(crate) cursor: Field<Cow<'a, str>>,
    /// The arguments of a call, as JSON.
    pub(crate) arguments: Option<&'a str>,
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

impl<'a> Params<'a> {
    pub(super) fn fill(&mut self, scan: &mut Scan<'a>, state: &mut State) -> Result<(), RpcError> {
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
                "arguments" => self.arguments = Some(scan.raw()?).filter(|raw| *raw != "null"),
                "_meta" => self.meta = Some(Meta::read(scan)?),
                "requestState" => self.request_state = Field::read(scan)?,
                "inputResponses" => self.input_responses = Some(scan.raw()?).filter(|raw| *raw != "null"),
                _ => scan.skip()?,
            }
        }
        self.raw = Some(scan.since(&start));
        Ok(())
    }
}

impl<'a> Field<Cow<'a, str>> {
    pub(super) fn read(scan: &mut Scan<'a>) -> Result<Self, RpcError> {
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
