//! A framework for MCP servers in which a tool's parameters say where they come from.

// So that the macros' paths work in this crate's own tests too.
extern crate self as rejoinder;

mod error;
mod macros;
pub mod prelude;
mod protocol;
mod rounds;
mod server;
pub mod testing;
mod transport;

#[doc(hidden)]
pub mod __private;

pub use error::{BoxError, Error, Result};
pub use rounds::seal::{BadStateKeys, SpentInMemory, SpentStates, StateKeys};
pub use server::{
    AddError, BuiltServer, CacheHints, CacheScope, Graph, NotOffered, Server, ServerHandle, WiringError, WiringErrors,
};
pub use transport::{McpService, ReplyStream, ResponseBody, log_to_stderr};

pub use rejoinder_core::{
    BoxFuture,
    ask::{Answer, Ask, Outcome, Root, Roots, Sample, Sampling, Visited},
    call::{Argument, Call, Completing, Ending, Era, Facts, Level},
    error::ToolError,
    form::{
        Answered, Choice, ChoicesField, Confirmed, Elicit, ElicitEnum, ElicitField, Field, Form, FormError, FormErrors,
        Format, IntoChoice, NumberField, Rules, TextField,
    },
    graph::Resolver,
    inject::{Context, Dep, FromCall, Rounds, Scope},
    item::{Prompt, Resource, Tool},
    model,
    reply::{Audio, Blob, Image, IntoPrompt, IntoReply, IntoResource, Json, Reply, Text},
    schema::OutputSchema,
};
pub use rejoinder_macros::{Elicit, ElicitEnum, group, prompt, resolver, resource, tool};

/// The programs of the README compile.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
