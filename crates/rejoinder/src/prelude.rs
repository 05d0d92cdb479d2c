//! What most servers need: `use rejoinder::prelude::*;`.

pub use crate::{
    Ask, Audio, Blob, CallEnd, CallError, Context, Dep, Elicit, ElicitEnum, Image, Json, Outcome, Reply, Rounds, Scope,
    Server, ServerHandle, Text, handlers, prompt, prompts, resolver, resource, resources, tool, tools,
};
