use serde::de::{Error, MapAccess};
use serde_json::value::RawValue;

use super::{Argument, Param};
use crate::{inject::Injected, schema::InputSchema};

/// One place in the tuple: an argument, or the stand-in for an injected parameter.
pub trait Slot: Sized + Send + Sync + 'static {
    /// Whether the model supplies it.
    const ARGUMENT: bool;

    /// Reads it in the fast pass.
    ///
    /// # Errors
    ///
    /// What the deserializer says.
    fn next<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Self, A::Error>;

    /// What it is when nothing was sent.
    fn absent(param: &Param) -> Option<Self>;

    /// Reads it in the slow pass, which tells what is wrong.
    ///
    /// # Errors
    ///
    /// The path below the argument, and the reason.
    fn read(json: &RawValue) -> Result<Self, (String, String)>;

    /// Reads it from plain text.
    ///
    /// # Errors
    ///
    /// The reason.
    fn from_text(text: &str) -> Result<Self, String>;

    /// Adds it to the schema.
    fn describe(param: &Param, schema: &mut InputSchema);
}

impl Slot for Injected {
    const ARGUMENT: bool = false;

    fn next<'de, A: MapAccess<'de>>(_: &mut A) -> Result<Self, A::Error> {
        Err(A::Error::custom("not an argument"))
    }

    fn absent(_: &Param) -> Option<Self> {
        Some(Self)
    }

    fn read(_: &RawValue) -> Result<Self, (String, String)> {
        Ok(Self)
    }

    fn from_text(_: &str) -> Result<Self, String> {
        Ok(Self)
    }

    fn describe(_: &Param, _: &mut InputSchema) {}
}

#[diagnostic::do_not_recommend]
impl<T: Argument + serde::de::DeserializeOwned> Slot for T {
    const ARGUMENT: bool = true;

    fn next<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Self, A::Error> {
        map.next_value()
    }

    fn absent(param: &Param) -> Option<Self> {
        match &param.default {
            Some(default) => default.make(),
            None => <T as Argument>::absent(),
        }
    }

    fn read(json: &RawValue) -> Result<Self, (String, String)> {
        <T as Argument>::read(json)
    }

    fn from_text(text: &str) -> Result<Self, String> {
        <T as Argument>::from_text(text)
    }

    fn describe(param: &Param, schema: &mut InputSchema) {
        let required = param.default.is_none() && <T as Argument>::absent().is_none();
        // Infinity, say, is `null` in JSON, and `null` is no number: what cannot be sent is not shown.
        let shown = param.default.and_then(|default| (default.show)());
        let default = shown.filter(|shown| <T as Argument>::from_value(shown.clone()).is_some());
        schema.add::<T>(param, required, default);
    }
}
