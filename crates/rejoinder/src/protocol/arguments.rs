//! Arguments, read the same way in both eras.

use std::borrow::Cow;

use crate::{
    call::{BadArguments, Members, Texts},
    item::Ready,
    model::{CallToolResult, ContentBlock, GetPromptResult},
};
use serde_json::{Value, json, value::RawValue};

use super::{RpcError, scan::Syntax};
use crate::server::{Engine, PromptEntry, ToolEntry};

/// What became of a tool's arguments.
pub(crate) enum ToolArguments {
    /// They were read.
    Good(Ready<CallToolResult>),
    /// They cannot be used; this is what the model is told.
    Bad(CallToolResult),
}

/// Reads a tool's arguments, a whole JSON value.
pub(crate) fn read_tool(engine: &Engine, entry: &ToolEntry, raw: &str) -> Result<ToolArguments, RpcError> {
    match entry.tool.reader().read(raw) {
        Some((ready, _)) => Ok(ToolArguments::Good(ready)),
        None => explain_tool(engine, entry, raw),
    }
}

/// Reads arguments that were not read with the message, and says everything that is wrong with them.
pub(super) fn explain_tool(engine: &Engine, entry: &ToolEntry, raw: &str) -> Result<ToolArguments, RpcError> {
    let json: &RawValue = serde_json::from_str(raw).map_err(|_| RpcError::from(Syntax))?;
    if !json.get().starts_with('{') {
        return Err(RpcError::invalid_params("`params.arguments` must be an object"));
    }
    match entry.tool.reader().explain(json, engine.options.unknown_arguments) {
        Ok(ready) => Ok(ToolArguments::Good(ready)),
        Err(bad) if engine.options.strict_arguments => Err(bad_arguments(&bad)),
        Err(bad) => Ok(ToolArguments::Bad(CallToolResult::error(vec![ContentBlock::text(bad.to_string())]))),
    }
}

/// Reads a prompt's arguments, a whole JSON value.
pub(crate) fn read_prompt(engine: &Engine, entry: &PromptEntry, raw: &str) -> Result<Ready<GetPromptResult>, RpcError> {
    let (reader, unknown) = (entry.prompt.reader(), engine.options.unknown_arguments);
    let mut texts: Members<Cow<'_, str>> = serde_json::from_str(raw)
        .map_err(|_| RpcError::invalid_params("`params.arguments` must be an object of strings"))?;
    texts.0.retain(|(name, _)| reader.takes(name, unknown));
    texts.twice().map_or(Ok(()), |twice| Err(bad_arguments(&twice)))?;
    let texts: Texts<'_> = texts.0.iter().map(|(name, text)| (&**name, &**text)).collect();
    reader.read_texts(&texts, unknown).map_err(|bad| bad_arguments(&bad))
}

pub(super) fn bad_arguments(bad: &BadArguments) -> RpcError {
    let errors: Vec<Value> = bad.0.iter().map(|bad| json!({ "field": bad.field, "message": bad.message })).collect();
    let mut data = errors.first().cloned().unwrap_or_default();
    data["errors"] = errors.into();
    RpcError::invalid_params(bad.to_string()).with_data(data)
}
