//! What the macros write paths to. Not public: it changes without notice.

pub use rejoinder_core::{
    BoxFuture,
    ask::{NotAsk, NotForm, NotResult, NotResultOfAsk, Outcome, Returned, Shape, shape, told},
    call::{Call, Default, Param, ReadParams, complete_with, default_of, show_default},
    error::{Halt, ToolError},
    form::{Elicit, ElicitEnum, Field, Form, FormErrors, Format, field},
    graph::{
        C, Edge, FitsArgument, FitsIn, FunctionArguments, GenericOver, Halts, HasArgument, Instance, ItemCheck,
        ItemNode, Keys, Name, Naming, Needed, Node, NodeArgument, NotResolver, NotTold, NotUngiven, Report, Resolver,
        ResolverParameter, Sound, Taken, Told, Ungiven, Unmarked, Walk, Wants, check_cycle, check_fits, check_item,
        is_cached, naming, needs_below, node_id, over, try_join, unless_over,
    },
    inject::{
        Injected, Lent, Need, NotArgument, NotByHand, NotInjected, Parameter, Probe, Suspect, check_argument,
        check_injected, needs, source,
    },
    item::{
        Annotations, Function, IconDetails, Kind, Prompt, PromptDetails, PromptFunction, PromptKind, Resource,
        ResourceDetails, ResourceFunction, ResourceKind, Tool, ToolDetails, ToolFunction, ToolKind,
    },
    reply::{Replying, prompt_reply, resource_reply, tool_reply},
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
