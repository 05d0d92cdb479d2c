//! One check for each parameter, so that one mistake is one error, in our words, at that parameter.

use super::{FromCall, source};
use crate::call::Argument;

/// A parameter whose type says, together with its attributes, where it comes from.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a tool argument",
    label = "the model cannot supply this type",
    note = "an argument implements `serde::Deserialize` and `schemars::JsonSchema`",
    note = "what the server supplies is a `Dep<T>`, a `Context`, or a type that implements `FromCall`"
)]
pub trait Supplied<const SOURCE: u8> {}

#[diagnostic::do_not_recommend]
impl<T> Supplied<{ source::ARGUMENT }> for T {}
#[diagnostic::do_not_recommend]
impl<T> Supplied<{ source::INJECTED }> for T {}
#[diagnostic::do_not_recommend]
impl<T> Supplied<{ source::EITHER }> for T {}

/// The check of a parameter without an attribute.
pub const fn check_parameter<T: Supplied<SOURCE>, const SOURCE: u8>() {}

/// The check of a parameter marked `#[arg]`.
pub const fn check_argument<T: Argument>() {}

/// The check of a parameter marked `#[inject]`.
pub const fn check_injected<T: FromCall>() {}
