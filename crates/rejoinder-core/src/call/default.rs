//! `#[arg(default = ..)]`.

use std::any::Any;

use serde::Serialize;
use serde_json::Value;

/// The default of one argument, in the argument's own type.
#[derive(Debug, Clone, Copy)]
pub struct Default {
    /// A `fn() -> T` that makes it. What is known of a parameter does not depend on its type.
    pub make: &'static (dyn Any + Send + Sync),
    /// Shows it to the model.
    pub show: fn() -> Option<Value>,
}

impl Default {
    /// Makes it, if it is a `T`.
    pub(super) fn make<T: 'static>(&self) -> Option<T> {
        self.make.downcast_ref::<fn() -> T>().map(|make| make())
    }
}

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
    /// The default as JSON, if JSON has it.
    fn show(&self) -> Option<Value>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize> Shown for T {
    fn show(&self) -> Option<Value> {
        serde_json::to_value(self).ok()
    }
}

/// Converts the expression of `#[arg(default = ..)]` into the argument's type.
pub fn default_of<T>(value: impl DefaultOf<T>) -> T {
    value.into_default()
}

/// The default as JSON, if JSON has it.
pub fn show_default<T: Shown>(value: &T) -> Option<Value> {
    value.show()
}
