//! Items that only the macros use. They change without notice.

pub use crate::{
    call::{ArgumentDefault, IntoDefault, OwnDefault, Param, ReadParams},
    error::Halt,
    form::ArgumentRules,
    graph::{
        AnyShape, Check, Completes, CompletionPart, Edge, FitsIn, FromOutcome, Gate, GateResolver, HasArgument,
        Instance, IntoAsk, IntoOut, IsShared, ItemNode, Node, NodeArgument, Offers, Pipe, PipeField, PipeReturned,
        Piped, PipedSlot, PipesInto, ResolverParameter, Returned, SameAs, Shape, Unmarked, Walk, check_option,
        finish_pipes, shape, try_join,
    },
    inject::{AnyType, FromHeader, ItemParameter, Probe, source},
    item::{Callee, Function, ItemDetails, ListedAs, Output, blocking},
};
pub use serde_json;

/// For the bench: seals a state and opens it again.
pub use crate::rounds::seal::measured_seal;

/// For the bench: calls a tool without arguments as the server does, but for the network.
///
/// # Panics
///
/// If it does not succeed immediately.
pub fn call_at_once(tool: &crate::Tool) {
    use crate::call::{Call, SentArguments, UnknownArguments};
    use futures_util::FutureExt;
    let run = tool.function.read(&SentArguments::default(), UnknownArguments::Refused, &Call::detached());
    let done = run.expect("it has no arguments").now_or_never();
    assert!(matches!(done, Some(Ok(_))), "nothing here waits or fails");
}
