//! Completion functions: what proposes values for an argument while the user types it.

use std::{any::Any, sync::Arc};

use futures_util::future::BoxFuture;

use super::{ItemNode, Keys, Pipe, PipeField, Walk};
use crate::call::{CompletionRequest, Halt};

/// A function that can be named in `#[arg(complete = ..)]`. `#[completion]` implements it.
///
/// To the framework it is a pipe: it makes proposals of a request, and its other parameters are filled in the same way.
#[diagnostic::on_unimplemented(
    message = "`complete = ..` does not name a completion function",
    label = "the name is misspelled or not imported, or the function is not marked `#[completion]`",
    note = "a completion function of the same `#[handlers]` block is named `Self::name`"
)]
pub trait Completes: Pipe<In = CompletionRequest, Out = Vec<String>> {
    /// It, as a server runs it.
    const COMPLETE: Complete = Complete {
        node: Self::NODE,
        run: |receiver, argument, request| {
            Box::pin(async move {
                let (call, keys) = (request.call.clone(), Keys::default());
                let walk = Walk::new(&call, &(), &*receiver, &keys);
                Self::run(&walk.of_field(PipeField::argument(argument)), request).await
            })
        },
    };
}

/// What runs a completion function: it gets the value whose method it may be, and the name of the argument.
type RunCompletion =
    fn(Arc<dyn Any + Send + Sync>, &'static str, CompletionRequest) -> BoxFuture<'static, Result<Vec<String>, Halt>>;

/// A completion function, as a server runs it.
#[derive(Debug, Clone, Copy)]
pub struct Complete {
    /// Its place in the graph.
    pub(crate) node: &'static ItemNode<'static>,
    pub(crate) run: RunCompletion,
}

/// What a completion function takes first, a `CompletionRequest`, or returns, a `Vec<String>`.
#[diagnostic::on_unimplemented(
    message = "a completion function needs a `{T}` here, not a `{Self}`",
    label = "not a `{T}`",
    note = "it takes a `CompletionRequest` first, and returns a `Vec<String>` or a `Result` of one"
)]
pub trait CompletionPart<T> {
    /// It.
    type Value;
}

#[diagnostic::do_not_recommend]
impl<T> CompletionPart<T> for T {
    type Value = T;
}
