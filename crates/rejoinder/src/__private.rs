//! Items that only the macros use. They change without notice.

pub use crate::{
    argument::{ArgumentDefault, IntoDefault, OwnDefault, Param, ReadParams},
    call::Halt,
    form::ArgumentRules,
    graph::{
        AnyShape, Check, Completes, CompletionPart, Edge, FitsIn, FromOutcome, Gate, GateResolver, HasArgument,
        Instance, IntoAsk, IntoOut, IsShared, ItemNode, Node, NodeArgument, Offers, Pipe, PipeField, PipeReturned,
        Piped, PipedSlot, PipesInto, ResolverParameter, Returned, SameAs, Shape, Unmarked, Walk, check_option,
        finish_pipes, shape, try_join,
    },
    inject::{AnyType, FromHeader, ItemParameter, Probe, source},
    item::{Callee, Function, ItemDetails, ListedAs, blocking},
    reply::FunctionOutput,
};
pub use serde_json;

/// Seals a state and opens it again.
#[cfg(feature = "__bench")]
pub use crate::rounds::seal::measured_seal;

/// Calls a tool without arguments as the server does, but for the network.
///
/// # Panics
///
/// If it does not succeed immediately.
#[cfg(feature = "__bench")]
pub fn call_at_once(tool: &crate::item::Tool) {
    use crate::{
        argument::{SentArguments, UnknownArguments},
        call::Call,
    };
    use futures_util::FutureExt;
    let run = tool.function.read(&SentArguments::default(), UnknownArguments::Refused, &Call::detached());
    let done = run.expect("it has no arguments").now_or_never();
    assert!(matches!(done, Some(Ok(_))), "nothing here waits or fails");
}
