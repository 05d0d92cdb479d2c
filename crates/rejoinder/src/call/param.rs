//! What the author of a function wrote about one of its arguments.

use std::{any::Any, collections::BTreeMap, fmt};

use serde::Serialize;
use serde_json::{Map, Value};

use super::Call;
use crate::graph::Complete;

/// What the author wrote about one plain parameter.
#[derive(Debug, Clone, Copy)]
pub struct Param {
    /// Its name, which is the argument's name.
    pub name: &'static str,
    /// Its doc comment.
    pub description: Option<&'static str>,
    /// `#[arg(default = ..)]`.
    pub default: Option<ArgumentDefault>,
    /// `#[arg(header = "..")]`: the suffix of the `Mcp-Param-` header that repeats it.
    pub header: Option<&'static str>,
    /// `#[arg(complete = ..)]`.
    pub complete: Option<Complete>,
    /// `#[arg(min = .., title = .., ..)]`: keywords for its schema. What the schema says is checked.
    pub keywords: Option<fn() -> Map<String, Value>>,
}

/// The default of one argument, in the argument's own type.
#[derive(Debug, Clone, Copy)]
pub struct ArgumentDefault {
    /// A `fn() -> T` that makes it: [`Param`] does not depend on the parameter's type.
    make: &'static (dyn Any + Send + Sync),
    show: fn(&Self) -> Option<Value>,
}

impl ArgumentDefault {
    /// The default that `make` makes.
    pub const fn of<T: ShownDefault + 'static>(make: &'static fn() -> T) -> Self {
        Self { make, show: |default| serde_json::to_value(default.make::<T>()?).ok() }
    }

    /// Makes it, if it is a `T`.
    pub(super) fn make<T: 'static>(&self) -> Option<T> {
        self.make.downcast_ref::<fn() -> T>().map(|make| make())
    }

    /// The default as JSON, for the schema, if JSON has it.
    pub(super) fn show(&self) -> Option<Value> {
        (self.show)(self)
    }
}

/// A type whose values the schema can show.
#[diagnostic::on_unimplemented(
    message = "a default of type `{Self}` cannot be shown in the schema",
    label = "derive `serde::Serialize` for this type"
)]
pub trait ShownDefault: Serialize {}

#[diagnostic::do_not_recommend]
impl<T: Serialize> ShownDefault for T {}

/// A type that has a default of its own, for `#[arg(default)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no default of its own",
    label = "write `default = ..`, or implement `Default` for the type"
)]
pub trait OwnDefault {
    /// Makes it.
    fn own_default() -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Default> OwnDefault for T {
    fn own_default() -> Self {
        T::default()
    }
}

/// What a function marked [`#[completion]`](crate::completion) gets: what the user types.
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
