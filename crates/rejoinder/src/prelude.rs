//! What most servers need: `use rejoinder::prelude::*;`.

pub use crate::{
    Audio, Blob, Context, Dep, Elicit, ElicitEnum, Image, Json, Server, ServerHandle, Text, ToolError, group, prompt,
    prompts, resource, resources, tool, tools,
};
