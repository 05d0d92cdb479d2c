//! `#[arg(default = ..)]` and `#[arg(default)]`.

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

/// A type that `#[arg(default)]` can be written for.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no default of its own",
    label = "not `Default`",
    note = "derive `Default` for it, or write the default out: `default = ..`"
)]
pub trait HasDefault {
    /// The default.
    fn default_of_its_type() -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: std::default::Default> HasDefault for T {
    fn default_of_its_type() -> T {
        T::default()
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
