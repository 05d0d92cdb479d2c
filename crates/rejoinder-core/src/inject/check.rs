//! One check for each parameter, so that one mistake is one error, in our words, at that parameter.

use super::{FromCall, source};
use crate::call::Argument;

/// What must be an argument for a parameter of that [`source`] to be sound: the parameter's type if nothing supplies
/// it, which then fails as it should, and otherwise something that passes.
pub trait Suspect<const SOURCE: u8> {
    /// What [`check_argument`] is to look at.
    type Type;
}

impl<T> Suspect<{ source::ARGUMENT }> for T {
    type Type = ();
}

impl<T> Suspect<{ source::INJECTED }> for T {
    type Type = ();
}

impl<T> Suspect<{ source::EITHER }> for T {
    type Type = ();
}

impl<T> Suspect<{ source::NOTHING }> for T {
    type Type = T;
}

/// Fails for what the model cannot supply.
pub const fn check_argument<T: Argument>() {}

/// What the call can supply: [`FromCall`], without the compiler's list of everything else that is.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be injected",
    label = "nothing supplies this type",
    note = "take `Dep<T>` or `Context`, or implement `FromCall` for it"
)]
pub trait Injectable {}

#[diagnostic::do_not_recommend]
impl<T: FromCall> Injectable for T {}

/// Fails for what the call cannot supply.
pub const fn check_injected<T: Injectable>() {}
