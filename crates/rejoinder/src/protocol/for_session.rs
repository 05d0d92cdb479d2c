use rejoinder_core::call::Members;
use serde::de::IgnoredAny;

use super::{
    Envelope, RpcError,
    arguments::bad_arguments,
    input_response::input_responses,
    params::{Arguments, Field},
    round::refused,
};
use crate::rounds::seal::Refused;

/// What rmcp would not notice in a request that it reads for the session era, in the words of the other era.
pub(crate) fn check_for_session(envelope: &Envelope<'_>) -> Result<(), RpcError> {
    let (Some(method @ ("tools/call" | "prompts/get" | "resources/read")), Some(_)) =
        (envelope.method.as_deref(), envelope.id)
    else {
        return Ok(());
    };
    let params = &envelope.params;
    if !matches!(params.request_state, Field::Absent) {
        return Err(refused(Refused::in_session(method)));
    }
    params.input_responses.map(input_responses).transpose()?;
    // Of two arguments of one name it takes the last. What has been read into a tool's own types has each once.
    let Arguments::Raw(raw) = params.arguments else { return Ok(()) };
    let members: Result<Members<IgnoredAny>, _> = serde_json::from_str(raw);
    let twice = members.ok().and_then(|members| members.twice());
    twice.map_or(Ok(()), |twice| Err(bad_arguments(&twice)))
}
