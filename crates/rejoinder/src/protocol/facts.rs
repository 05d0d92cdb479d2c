//! What a request says of itself, checked.

use bytes::Bytes;

use super::{RpcError, dispatch::SessionRequest, meta::Meta, version::MODERN};
use crate::call::{Carrier, Era, RequestInfo, Utf8Bytes};

/// Everything else that a stateless request says.
pub(super) fn stateless_facts(body: &Bytes, id: &str, meta: &Meta<'_>) -> Result<RequestInfo, RpcError> {
    Ok(RequestInfo {
        request_id: keep(body, id),
        era: Era::Stateless,
        protocol_version: MODERN.into(),
        capabilities: meta.capabilities()?,
        client: meta.client()?.map(|client| keep(body, client)),
        log_level: meta.log_level()?,
        progress_token: meta.progress_token()?,
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
) -> Result<(RequestInfo, Box<dyn Carrier>), RpcError> {
    let info = RequestInfo {
        request_id: keep(body, id),
        era: Era::Session,
        protocol_version: session.version.into(),
        capabilities: session.capabilities,
        client: session.client,
        log_level: session.log_level,
        progress_token: meta.map_or(Ok(None), Meta::progress_token)?,
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
