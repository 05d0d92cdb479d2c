//! What the author of a function wrote about one of its arguments.

use std::{any::Any, collections::BTreeMap, fmt};

use serde::Serialize;
use serde_json::Value;

use super::Call;
use crate::BoxFuture;

/// What the author wrote about one plain parameter.
#[derive(Debug, Clone, Copy)]
pub struct Param {
    /// Its name, which is the argument's name.
    pub name: &'static str,
    /// Its doc comment.
    pub description: Option<&'static str>,
    /// `#[arg(default = ..)]`.
    pub default: Option<Default>,
    /// `#[arg(header = "..")]`: the suffix of the `Mcp-Param-` header that repeats it.
    pub header: Option<&'static str>,
    /// `#[arg(complete = ..)]`.
    pub complete: Option<Complete>,
}

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

/// A function that proposes values for an argument while the user types it.
pub(crate) type Complete = fn(CompletionRequest) -> BoxFuture<'static, Vec<String>>;

/// A function that can be named in `#[arg(complete = ..)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not complete an argument",
    label = "not an `async fn(CompletionRequest) -> Vec<String>`"
)]
pub trait Completes {
    /// Proposes values.
    fn complete(self, completing: CompletionRequest) -> BoxFuture<'static, Vec<String>>;
}

#[diagnostic::do_not_recommend]
impl<F, P> Completes for F
where
    F: FnOnce(CompletionRequest) -> P,
    P: Future<Output = Vec<String>> + Send + 'static,
{
    fn complete(self, completing: CompletionRequest) -> BoxFuture<'static, Vec<String>> {
        Box::pin(self(completing))
    }
}

/// What a completion function gets.
#[derive(Clone)]
pub struct CompletionRequest {
    /// What the user has typed so far.
    pub value: String,
    /// The arguments that have been filled in already.
    pub arguments: BTreeMap<String, String>,
    /// The call, for provided services.
    pub call: Call,
}

impl fmt::Debug for CompletionRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompletionRequest")
            .field("value", &self.value)
            .field("arguments", &self.arguments)
            .finish_non_exhaustive()
    }
}
