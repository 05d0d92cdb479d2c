use std::any::Any;

use schemars::SchemaGenerator;
use serde_json::{Value, value::RawValue};

use super::{Argument, ArgumentError, SchemaCheck, SentArgument};
use crate::schema::{Matching, generator};

/// How an argument is read where only its name is known: in a tool that is made at run time.
#[derive(Debug, Clone, Copy)]
pub struct ByName {
    /// Reads it.
    pub(crate) read: ReadByName,
    /// Its schema.
    pub(crate) schema: fn(&mut SchemaGenerator) -> Value,
}

/// Reads an argument, or finds what it is when nothing was sent.
type ReadByName = fn(Option<&RawValue>) -> Result<Box<dyn Any + Send + Sync>, ArgumentError>;

impl ByName {
    /// An argument of that type.
    pub(crate) const fn of<T: Argument>() -> Self {
        let read: ReadByName = |json| match json {
            Some(json) => T::read(&SentArgument::Json(json))
                .map(|value| Box::new(value) as _)
                .map_err(|error| misfit(T::schema, json).unwrap_or(error)),
            None => T::absent().map(|value| Box::new(value) as _).ok_or_else(ArgumentError::required),
        };
        Self { read, schema: T::schema }
    }
}

/// What is wrong with a value by the schema of its type, if anything is.
fn misfit(schema: fn(&mut SchemaGenerator) -> Value, json: &RawValue) -> Option<ArgumentError> {
    let schema = schema(&mut generator(|settings| settings.for_deserialize()));
    let mut value = serde_json::from_str(json.get()).ok()?;
    SchemaCheck::new(&schema, &[]).check_node(0, &mut value, &Matching::default()).err()?.into_iter().next()
}
