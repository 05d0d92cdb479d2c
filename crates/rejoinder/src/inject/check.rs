//! One check for each parameter, so that one mistake is one error, in our words, at that parameter.

use super::{FromCall, source};

/// What must be an argument for a parameter of that [`source`] to be sound: the parameter's type if nothing supplies
/// it, which then fails as it should, and otherwise something that passes.
pub trait Suspect<const SOURCE: u8> {
    /// What must be an [`Argument`](crate::call::Argument).
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

/// What the call can supply: [`FromCall`], without the compiler's list of everything else that is.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be injected",
    label = "nothing supplies this type",
    note = "take `Dep<T>` or `Context`, or implement `FromCall` for it"
)]
pub trait Injectable {
    /// Cannot be said of what the call cannot supply.
    const INJECTED: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: FromCall> Injectable for T {}

/// Fails, while the program compiles, with this text.
///
/// # Panics
///
/// Always.
#[track_caller] // so that the compiler shows the call, and not what is here
pub const fn refuse(why: &str) -> ! {
    panic!("{}", why)
}
