//! Forms that a user can be asked to fill in.
//!
//! A form is a struct that derives `Elicit`, or implements it by hand. MCP lets a form be a flat list of texts, numbers,
//! yes-or-no questions and choices, so that is what a [`Field`] can be: a type that is an [`ElicitField`].
//!
//! * [`Elicit`]: what a form is; [`Form`]: what of it the client sees; [`FormErrors`]: what is wrong with an answer.
//! * [`Field`]: one field with its title, rules and default.
//! * one file for each type that a field can have, and [`ElicitEnum`] for choices.
//! * `shorthand`: forms that are ready: [`ConfirmForm`], [`TextForm`], [`Choice`].

mod boolean;
mod choice;
mod choices;
mod derived;
mod digest;
mod elicit;
mod errors;
mod field;
mod field_type;
mod format;
mod into_choice;
mod number;
mod older;
mod optional;
mod rules;
mod schema;
mod shorthand;
mod text;

pub use choice::ElicitEnum;
#[doc(hidden)]
pub use derived::DerivedField;
pub(crate) use digest::digest_of;
pub use elicit::Elicit;
pub use errors::{FormError, FormErrors};
pub use field::Field;
pub use field_type::{ChoicesField, ElicitField, NumberField, TextField};
pub use format::Format;
pub use into_choice::IntoChoice;
pub(crate) use number::Number;
pub use rules::Rules;
pub use schema::Form;
pub use shorthand::{Choice, ConfirmForm, TextForm};
