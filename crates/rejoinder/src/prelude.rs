//! What most servers need: `use rejoinder::prelude::*;`.

pub use crate::{
    Ask, Audio, Blob, Context, Dep, Elicit, ElicitEnum, Ending, Image, Json, Outcome, Reply, Rounds, Scope, Server,
    ServerHandle, Text, ToolError, group, prompt, prompts, resolver, resource, resources, tool, tools,
};
