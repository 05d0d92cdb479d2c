//! What the macros write paths to. Not public: it changes without notice.

pub use crate::{
    BoxFuture,
    ask::{
        FromOutcome, Keeps, NotAsk, NotForm, NotResult, NotResultOfAsk, Outcome, Returned, Shape, Value as KeptValue,
        shape,
    },
    call::{Call, Completes, Default, DefaultOf, HasDefault, Param, ReadParams, Shown},
    error::{CallError, Halt},
    form::{Elicit, ElicitEnum, Field, Form, FormErrors, Format},
    graph::{
        Awaited, C, CycleCheck, Edge, Fits, FitsIn, FunctionArguments, Functions, GenericOver, Halts, HasArgument,
        Instance, ItemCheck, ItemNode, Keys, Made, Meant, Name, NamedBy, Naming, Needed, Node, NodeArgument,
        NotGeneric, NotResolver, NotShared, NotTold, NotUngiven, Offers, Place, Resolver, ResolverParameter, SameAs,
        Shared, Sharing, Sound, Taken, Told, Ungiven, Unmarked, Walk, Wants, asks_again, check_cycle, check_item,
        is_cached, look_at, naming, needs_below, node_id, try_join, unless_over,
    },
    inject::{
        Injectable, Injected, Lent, Need, NotArgument, NotByHand, NotInjected, Parameter, Probe, PromptArgument,
        ResolverArgument, ResourceArgument, Suspect, ToolArgument, needs, refuse, source,
    },
    item::{
        Annotations, Function, IconDetails, Kind, Output, Prompt, PromptDetails, PromptFunction, PromptKind, Resource,
        ResourceDetails, ResourceFunction, ResourceKind, Tool, ToolDetails, ToolFunction, ToolKind,
    },
    reply::{
        Carried, Doubted, NotReply, NotWrapped, Outermost, PromptFailure, PromptReply, Replied, Replies, Replying,
        ResolverFailure, ResourceFailure, ResourceReply, ToolFailure, ToolReply, Wraps,
    },
};
pub use serde_json::{Map, Value};
pub use std::{
    self,
    boxed::Box,
    option::Option::{self, None, Some},
    primitive::{bool, str, u8},
    result::Result::{self, Err, Ok},
    string::String,
    sync::{Arc, OnceLock},
    vec::Vec,
};

/// For the fuzzer: opens any text as a state, seals any bytes, and checks that only what was sealed opens.
pub use crate::rounds::seal::fuzz as fuzz_state;

/// For the bench: seals a state and opens it again.
pub use crate::rounds::seal::MeasuredSeal;

/// For the bench: calls a tool without arguments as the server does, but for the network.
///
/// # Panics
///
/// If it does not succeed at once.
pub fn call_at_once(tool: &Tool) {
    use crate::call::{SentArguments, Unknown};
    use futures_util::FutureExt;
    let ready = tool.reader().read(&SentArguments::default(), Unknown::Refused).expect("it has no arguments");
    let done = ready.run(Call::detached()).now_or_never();
    assert!(matches!(done, Some(Ok(_))), "nothing here waits or fails");
}
