//! The derive macros of forms: `Elicit` for the form, `ElicitEnum` for a choice in it.
//!
//! `field` reads what the author wrote about a field, `limits` finds what contradicts itself, `case` renames variants.

mod attribute;
mod case;
mod choice;
mod field;
mod form;
mod limits;

pub(crate) use choice::choice;
pub(crate) use form::form;
