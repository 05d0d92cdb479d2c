//! Arguments: what the client sent, what the author wrote about it, its schema, and how it is checked and read.

#[expect(clippy::module_inception, reason = "`Argument` is what this module is about")]
mod argument;
mod argument_error;
mod arguments;
mod by_name;
mod check;
mod input_schema;

pub(crate) use argument::SentArgument;
pub use argument::{Argument, ArgumentDefault, IntoDefault, OwnDefault, Param};
pub(crate) use argument_error::{ArgumentError, ArgumentErrors, got, unknown, without_position};
pub use argument_error::{FieldError, IntoFieldError};
pub use arguments::ReadParams;
pub(crate) use arguments::{
    ArgumentReader, ArgumentSet, Injected, MemberName, Members, SentArguments, Slot, UnknownArguments, read_arguments,
};
pub(crate) use by_name::ByName;
pub(crate) use check::{ArgumentCheck, SchemaCheck};
pub(crate) use input_schema::InputSchema;
