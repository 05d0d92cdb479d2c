//! `#[arg(default = ..)]`.

use serde::Serialize;
use serde_json::Value;

/// What `#[arg(default = ..)]` may give to an argument of type `T`: a text for a `String`, say.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the default of an argument of type `{T}`",
    label = "not a `{T}`, and no `Into<{T}>`"
)]
pub trait DefaultOf<T> {
    /// The default as the argument's type.
    fn into_default(self) -> T;
}

#[diagnostic::do_not_recommend]
impl<T, F: Into<T>> DefaultOf<T> for F {
    fn into_default(self) -> T {
        self.into()
    }
}

/// A type whose defaults the schema can show.
#[diagnostic::on_unimplemented(
    message = "a default of type `{Self}` cannot be shown to the model",
    label = "the schema shows defaults as JSON",
    note = "implement `serde::Serialize` for it, or take an `Option` and choose the default in the function"
)]
pub trait Shown {
    /// The default as JSON.
    ///
    /// # Panics
    ///
    /// When it has no JSON; that happens when the server is built, not while it serves.
    fn show(&self) -> Value;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize> Shown for T {
    fn show(&self) -> Value {
        serde_json::to_value(self).expect("an argument comes as JSON, so its default can be JSON")
    }
}

/// Converts the expression of `#[arg(default = ..)]` into the argument's type.
pub fn default_of<T>(value: impl DefaultOf<T>) -> T {
    value.into_default()
}

/// The default as JSON.
pub fn show_default<T: Shown>(value: &T) -> Value {
    value.show()
}
