use crate::call::SentArguments;
use serde_json::value::RawValue;

use super::{Envelope, RpcError, input_response::input_responses};
use crate::server::{Engine, Refusal, TargetKind};

/// What rmcp would not notice in a request that it reads for the session era, in the words of the other era.
pub(crate) fn check_for_session(engine: &Engine, envelope: &Envelope<'_>) -> Result<(), RpcError> {
    if let (Some(meta), Some(_)) = (&envelope.params.meta, envelope.id) {
        meta.check_progress_token_length()?;
    }
    let (Some(method @ ("tools/call" | "prompts/get" | "resources/read")), Some(_)) =
        (envelope.method.as_deref(), envelope.id)
    else {
        return Ok(());
    };
    let params = &envelope.params;
    if params.request_state.is_some() {
        return Err(Refusal::InvalidState.into());
    }
    params.input_responses.map(input_responses).transpose()?;
    // Of two arguments of one name it takes the last. Those of a tool pass it as they are.
    let ("prompts/get", Some(raw)) = (method, params.arguments.map(RawValue::get)) else { return Ok(()) };
    if let (Ok(name), Some(sent)) = (params.name(), SentArguments::from_json_strings(raw))
        && let Some(entry) = engine.entry(TargetKind::Prompt, &name)
    {
        let read = entry.reader().read(&sent, engine.options.unknown_arguments);
        read.map_err(|errors| RpcError::bad_arguments(&errors))?;
    }
    Ok(())
}
