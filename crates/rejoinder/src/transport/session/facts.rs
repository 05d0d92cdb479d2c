//! What a request of a session says of itself, and what its session said before it.

use bytes::Bytes;
use rmcp::{RoleServer, model::ProtocolVersion, service::RequestContext};

use super::{reply_stream::ReplyStream, state::Session};
use crate::{
    protocol::{LEGACY, SessionRequest},
    rounds::{RmcpClient, SessionCarrier},
};

/// What the session says of a request.
pub(super) fn session_request(session: &Session, context: &RequestContext<RoleServer>) -> SessionRequest {
    let version = version(context.protocol_version().as_ref());
    SessionRequest {
        version,
        capabilities: context.client_capabilities().unwrap_or_default(),
        client: context.client_info().map(|client| json(&client)),
        log_level: Some(session.level()),
        carrier: Box::new(SessionCarrier::new(RmcpClient {
            peer: context.peer.clone(),
            request: context.id.clone(),
            version,
            unheard: session.unheard.clone(),
        })),
        http: context.extensions.get::<http::request::Parts>().map(|parts| {
            let mut extensions = parts.extensions.clone();
            if let Some(stream) = context.extensions.get::<ReplyStream>() {
                extensions.insert(stream.clone());
            }
            Box::new((parts.headers.clone(), extensions))
        }),
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
