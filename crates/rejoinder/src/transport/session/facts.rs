//! What a request of a session says of itself, and what its session said before it.

use crate::call::{Era, ProgressToken, RequestInfo};
use bytes::Bytes;
use rmcp::{
    RoleServer,
    model::{NumberOrString, ProtocolVersion},
    service::RequestContext,
};

use super::{reply_stream::ReplyStream, state::Session};
use crate::protocol::LEGACY;

/// The facts of a call.
pub(super) fn facts(session: &Session, context: &RequestContext<RoleServer>) -> RequestInfo {
    let token = context.meta.get_progress_token();
    RequestInfo {
        request_id: json(&context.id),
        era: Era::Session,
        protocol_version: version(context.protocol_version().as_ref()),
        capabilities: context.client_capabilities().unwrap_or_default(),
        client: context.client_info().map(|client| json(&client)),
        log_level: Some(session.level()),
        progress_token: token.map(|token| match token.0 {
            NumberOrString::Number(number) => ProgressToken::Number(number),
            NumberOrString::String(text) => ProgressToken::Text(text.as_ref().to_owned()),
        }),
        http: context.extensions.get::<http::request::Parts>().map(|parts| {
            let mut extensions = parts.extensions.clone();
            if let Some(stream) = context.extensions.get::<ReplyStream>() {
                extensions.insert(stream.clone());
            }
            Box::new((parts.headers.clone(), extensions))
        }),
        meta: (!context.meta.is_empty()).then(|| json(&context.meta)),
    }
}

fn json(value: &impl serde::Serialize) -> Bytes {
    // All of it came as JSON.
    serde_json::to_vec(value).unwrap_or_default().into()
}

/// The negotiated version; nothing but these is ever negotiated.
fn version(negotiated: Option<&ProtocolVersion>) -> &'static str {
    let negotiated = negotiated.map_or(LEGACY[0], ProtocolVersion::as_str);
    LEGACY.into_iter().find(|version| *version == negotiated).unwrap_or(LEGACY[0])
}
