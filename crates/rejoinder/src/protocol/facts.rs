//! What a request says of itself, checked.

use std::sync::Arc;

use bytes::Bytes;

use super::{RpcError, dispatch::SessionRequest, envelope::LONGEST_ID, meta::Meta, version::MODERN};
use crate::{
    ask::Carrier,
    call::{Era, Level, ProgressToken, RequestInfo, Utf8Bytes},
    model::ClientCapabilities,
};

/// The version that the request asks for.
pub(super) fn version<'a>(meta: &Meta<'a>) -> Result<&'a str, RpcError> {
    let version = meta.version.ok_or_else(|| missing("protocolVersion"))?;
    // A version has no escapes; one that does is no version that anybody knows.
    let text = version.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    text.ok_or_else(|| malformed("protocolVersion", "a string"))
}

/// Everything else that a stateless request says.
pub(super) fn stateless_facts(body: &Bytes, id: &str, meta: &mut Meta<'_>) -> Result<RequestInfo, RpcError> {
    Ok(RequestInfo {
        request_id: keep(body, id),
        era: Era::Stateless,
        protocol_version: MODERN,
        capabilities: capabilities(meta)?,
        client: client(body, meta)?,
        log_level: log_level(meta.log_level)?,
        progress_token: progress_token(meta.progress_token)?,
        http: None,
        meta: Some(keep(body, meta.raw)),
        principal: None,
    })
}

/// What a request of a session says about itself, and what its session said before it.
pub(super) fn session_facts(
    body: &Bytes,
    id: &str,
    meta: Option<&Meta<'_>>,
    session: SessionRequest,
) -> Result<(RequestInfo, Arc<dyn Carrier>), RpcError> {
    let info = RequestInfo {
        request_id: keep(body, id),
        era: Era::Session,
        protocol_version: session.version,
        capabilities: session.capabilities,
        client: session.client,
        log_level: session.log_level,
        progress_token: progress_token(meta.and_then(|meta| meta.progress_token))?,
        http: session.http,
        meta: meta.map(|meta| keep(body, meta.raw)),
        principal: None,
    };
    Ok((info, session.carrier))
}

/// A part of the body that outlives the reading of it.
fn keep(body: &Bytes, part: &str) -> Bytes {
    Utf8Bytes::part(body, part).into()
}

fn capabilities(meta: &mut Meta<'_>) -> Result<ClientCapabilities, RpcError> {
    let declared = meta.capabilities.take().ok_or_else(|| missing("clientCapabilities"))?;
    declared.map(Into::into).ok_or_else(|| malformed("clientCapabilities", "an object of capabilities"))
}

/// The client's `clientInfo`, decoded when somebody asks.
fn client(body: &Bytes, meta: &Meta<'_>) -> Result<Option<Bytes>, RpcError> {
    match meta.client {
        Some(_) if !meta.is_client => Err(malformed("clientInfo", "an object with `name` and `version`")),
        raw => Ok(raw.map(|raw| keep(body, raw))),
    }
}

fn log_level(raw: Option<&str>) -> Result<Option<Level>, RpcError> {
    let level = raw.map(serde_json::from_str).transpose();
    level.map_err(|_| malformed("logLevel", "one of debug, info, notice, warning, error, critical, alert, emergency"))
}

fn progress_token(raw: Option<&str>) -> Result<Option<ProgressToken>, RpcError> {
    let Some(raw) = raw else { return Ok(None) };
    short_token(raw)?;
    let token = serde_json::from_str(raw).ok().and_then(|value| ProgressToken::from_json(&value));
    token
        .map(Some)
        .ok_or_else(|| RpcError::invalid_params("`params._meta.progressToken` must be a string or an integer"))
}

/// Every report of progress repeats the token, so it is no longer than an id.
pub(super) fn short_token(raw: &str) -> Result<(), RpcError> {
    if raw.len() > LONGEST_ID {
        let told = format!("`params._meta.progressToken` is longer than {LONGEST_ID} bytes");
        return Err(RpcError::invalid_params(told));
    }
    Ok(())
}

fn missing(field: &str) -> RpcError {
    RpcError::invalid_params(format!("`params._meta[\"io.modelcontextprotocol/{field}\"]` is missing"))
}

fn malformed(field: &str, expected: &str) -> RpcError {
    RpcError::invalid_params(format!("`params._meta[\"io.modelcontextprotocol/{field}\"]` must be {expected}"))
}
