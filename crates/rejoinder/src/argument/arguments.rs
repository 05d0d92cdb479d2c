//! The arguments of a call: as the client sent them, and as the parameters of a function take them.

use std::{any::Any, borrow::Cow, fmt, marker::PhantomData};

use crate::model::JsonObject;
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, MapAccess, Visitor},
};
use serde_json::{Value, value::to_raw_value};

use super::{
    Argument, ArgumentCheck, ArgumentDefault, ArgumentError, ArgumentErrors, InputSchema, Param, SentArgument, unknown,
};
use crate::schema::Matching;

/// What to do with an argument that the function does not have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum UnknownArguments {
    /// Report an error.
    #[default]
    Refused,
    /// Ignore it.
    Ignored,
}

/// The arguments of a call as the client sent them, in order. The same name may occur twice.
#[derive(Debug, Default, Clone)]
pub(crate) struct SentArguments<'a>(pub(crate) Vec<(Cow<'a, str>, SentArgument<'a>)>);

impl<'a> SentArguments<'a> {
    /// Reads a JSON object, whose values stay as they are.
    pub(crate) fn from_json(json: &'a str) -> serde_json::Result<Self> {
        serde_json::from_str(json).map(|Members(members)| Self(members))
    }

    /// Reads a JSON object of strings; `None` for anything else.
    pub(crate) fn from_json_strings(json: &'a str) -> Option<Self> {
        let Members::<String>(members) = serde_json::from_str(json).ok()?;
        Some(Self(members.into_iter().map(|(name, text)| (name, SentArgument::Text(text.into()))).collect()))
    }

    /// Arguments that are plain text.
    pub(crate) fn from_texts(texts: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        Self(texts.into_iter().map(|(name, text)| (name.into(), SentArgument::Text(text.into()))).collect())
    }

    /// All of them, as JSON values.
    ///
    /// # Errors
    ///
    /// A name occurs twice, or a value cannot be read.
    pub(crate) fn to_object(&self) -> Result<JsonObject, ArgumentErrors> {
        let (mut object, mut errors) = (JsonObject::new(), ArgumentErrors::default());
        for (name, sent) in &self.0 {
            let read = <Value as Argument>::read(sent).and_then(|value| match object.insert(name.to_string(), value) {
                None => Ok(()),
                Some(_) => Err(ArgumentError::duplicate()),
            });
            if let Err(error) = read {
                errors.push(error.of(name));
            }
        }
        if errors.0.is_empty() { Ok(object) } else { Err(errors) }
    }

    /// The argument of that name.
    fn get(&self, name: &str) -> Result<Option<&SentArgument<'a>>, ArgumentError> {
        let mut named = self.0.iter().filter(|(sent, _)| sent == name).map(|(_, value)| value);
        match (named.next(), named.next()) {
            (found, None) => Ok(found),
            _ => Err(ArgumentError::duplicate()),
        }
    }
}

/// The name of a member of a JSON object, borrowed if it has no escapes. A `Cow` alone is never borrowed.
#[derive(Deserialize)]
pub(crate) struct MemberName<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

/// The members of a JSON object, in order. Unlike a map it keeps those whose name occurs twice.
pub(crate) struct Members<'a, V>(pub(crate) Vec<(Cow<'a, str>, V)>);

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Members<'de, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor<V>(PhantomData<V>);

        impl<'de, V: Deserialize<'de>> Visitor<'de> for MembersVisitor<V> {
            type Value = Members<'de, V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((MemberName(name), value)) = map.next_entry()? {
                    members.push((name, value));
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(MembersVisitor(PhantomData))
    }
}

/// A function's parameters: what its arguments are read into, and what its author wrote about them.
pub trait ReadParams: 'static {
    /// One `Slot` for each parameter, nested: `(A, (B, ()))`.
    type Set: ArgumentSet;

    /// The parameters, one for each slot.
    const PARAMS: &'static [Param];
}

/// Reads the arguments of a function. `known` has each argument's name and check, in the order of the parameters.
///
/// # Errors
///
/// Everything that is wrong.
pub(crate) fn read_arguments<F: ReadParams>(
    sent: &SentArguments<'_>,
    unknown: UnknownArguments,
    known: &[(&'static str, ArgumentCheck)],
) -> Result<F::Set, ArgumentErrors> {
    let (errors, matching) = Default::default();
    let mut reader = ArgumentReader { sent, left: known, errors, matching };
    if unknown == UnknownArguments::Refused {
        reader.refuse_unknown();
    }
    match F::Set::read(F::PARAMS, &mut reader) {
        Some(set) if reader.errors.0.is_empty() => Ok(set),
        _ => Err(reader.errors),
    }
}

/// The arguments of a call while they are read.
#[derive(Debug)]
pub struct ArgumentReader<'r> {
    sent: &'r SentArguments<'r>,
    /// The arguments that are not read yet.
    left: &'r [(&'static str, ArgumentCheck)],
    errors: ArgumentErrors,
    /// What has been matched against patterns.
    matching: Matching,
}

impl ArgumentReader<'_> {
    fn refuse_unknown(&mut self) {
        for (name, _) in &self.sent.0 {
            let is_known = self.left.iter().any(|(known, _)| known == name);
            if !is_known && !self.errors.is_full() && !self.errors.0.iter().any(|error| error.field == *name) {
                let known = self.left.iter().map(|(known, _)| known);
                self.errors.push(ArgumentError::new(&**name, unknown(("argument", "arguments"), known)));
            }
        }
    }
}

/// One place in the set: an argument, or the stand-in for an injected parameter.
pub trait Slot: Sized + Send + Sync + 'static {
    /// Reads it, or notes what is wrong with it.
    fn read(param: &Param, reader: &mut ArgumentReader<'_>) -> Option<Self>;

    /// The value, for resolvers that take it by name; `None` for an injected parameter.
    fn value(&self) -> Option<&(dyn Any + Send + Sync)>;

    /// Adds it to the schema.
    fn describe(param: &Param, schema: &mut InputSchema);
}

/// What stands in the argument tuple for a parameter that the server supplies.
#[derive(Debug, Default, Clone, Copy)]
pub struct Injected;

impl Slot for Injected {
    fn read(_: &Param, _: &mut ArgumentReader<'_>) -> Option<Self> {
        Some(Self)
    }

    fn value(&self) -> Option<&(dyn Any + Send + Sync)> {
        None
    }

    fn describe(_: &Param, _: &mut InputSchema) {}
}

#[diagnostic::do_not_recommend]
impl<T: Argument + DeserializeOwned> Slot for T {
    fn read(param: &Param, reader: &mut ArgumentReader<'_>) -> Option<Self> {
        let (_, check) = reader.left.split_off_first().expect("there is a check for each argument");
        let value = match reader.sent.get(param.name) {
            Ok(Some(sent)) => check.read(sent, &reader.matching).or_else(|error| {
                // Models send `null` for an argument that they leave out. An `Option` reads it as `None`.
                let default = param.default.as_ref().filter(|_| sent.is_null());
                default.and_then(ArgumentDefault::make).ok_or(error)
            }),
            Ok(None) => match &param.default {
                Some(default) => default.make(),
                None => T::absent(),
            }
            .ok_or_else(|| vec![ArgumentError::required()]),
            Err(error) => Err(vec![error]),
        };
        value.map_err(|wrong| wrong.into_iter().for_each(|error| reader.errors.push(error.of(param.name)))).ok()
    }

    fn value(&self) -> Option<&(dyn Any + Send + Sync)> {
        Some(self)
    }

    fn describe(param: &Param, schema: &mut InputSchema) {
        let required = param.default.is_none() && T::absent().is_none();
        // A default that cannot be sent is not shown: an infinite number is `null` in JSON, for example.
        let can_be_sent = |shown: &Value| {
            to_raw_value(shown).is_ok_and(|json| <T as Argument>::read(&SentArgument::Json(&json)).is_ok())
        };
        let default = param.default.and_then(|default| default.show()).filter(can_be_sent);
        schema.add::<T>(param, required, default);
    }
}

/// What the arguments of a function are read into: nested pairs of [`Slot`]s.
pub trait ArgumentSet: Sized + Send + Sync + 'static {
    /// Reads all of them, or notes what is wrong with each.
    fn read(params: &[Param], reader: &mut ArgumentReader<'_>) -> Option<Self>;

    /// The argument at that place; `None` for an injected parameter.
    fn get(&self, index: usize) -> Option<&(dyn Any + Send + Sync)>;

    /// Adds every argument to the schema.
    fn describe(params: &[Param], schema: &mut InputSchema);
}

impl ArgumentSet for () {
    fn read(_: &[Param], _: &mut ArgumentReader<'_>) -> Option<Self> {
        Some(())
    }

    fn get(&self, _: usize) -> Option<&(dyn Any + Send + Sync)> {
        None
    }

    fn describe(_: &[Param], _: &mut InputSchema) {}
}

impl<S: Slot, Rest: ArgumentSet> ArgumentSet for (S, Rest) {
    fn read(params: &[Param], reader: &mut ArgumentReader<'_>) -> Option<Self> {
        let (param, rest) = first(params);
        let (value, rest) = (S::read(param, reader), Rest::read(rest, reader));
        Some((value?, rest?))
    }

    fn get(&self, index: usize) -> Option<&(dyn Any + Send + Sync)> {
        match index.checked_sub(1) {
            None => self.0.value(),
            Some(index) => self.1.get(index),
        }
    }

    fn describe(params: &[Param], schema: &mut InputSchema) {
        let (param, rest) = first(params);
        S::describe(param, schema);
        Rest::describe(rest, schema);
    }
}

fn first(params: &[Param]) -> (&Param, &[Param]) {
    params.split_first().expect("there is a parameter for each slot")
}
