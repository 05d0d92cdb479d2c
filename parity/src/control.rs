//! What a test needs besides: to see what ran, and to change what is asked.

use rejoinder::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use crate::script::Script;

/// What ran.
#[derive(Serialize, JsonSchema)]
pub struct Ran {
    /// Resolvers by their names, tools as `body`.
    ran: Vec<&'static str>,
}

/// What ran since this was last called.
#[tool]
pub fn ran(script: Dep<Script>) -> Json<Ran> {
    Json(Ran { ran: script.take_ran() })
}

/// Change the words in which a resolver asks.
#[tool]
pub fn reword(
    /// The resolver's name
    resolver: String,
    /// What it asks from now on
    text: String,
    script: Dep<Script>,
) -> Result<&'static str, CallError> {
    let unknown = |known| CallError::new(format!("`{resolver}` has no words to change; these have: {known}"));
    script.reword(&resolver, text).map_err(unknown)?;
    Ok("reworded")
}
