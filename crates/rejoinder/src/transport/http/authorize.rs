//! Who may send requests: what `Auth` says, in the words of HTTP and of the MCP authorization specification.

use std::borrow::Cow;

use ::http::{HeaderValue, Method, Response, StatusCode, Uri, header, request::Parts};
use serde_json::json;
use tracing::{Span, field::display};

use super::{ResponseBody, request::HttpRefusal, service::Endpoint};
use crate::{
    auth::{Auth, AuthRefusal, sibling},
    server::http::PeerAddress,
};

/// Where clients find out which issuer a server trusts (RFC 9728).
pub(super) const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// The host that a request names, and which of the server's paths it is for.
pub(super) type Address<'a> = (Option<&'a str>, &'a str);

/// Why a caller was refused: the error and its description, and the scopes that are missing beside those that every request
/// needs. It travels with the response, for `WWW-Authenticate`.
#[derive(Clone)]
pub(super) struct Challenge(pub(super) Option<(&'static str, Cow<'static, str>)>, pub(super) Vec<String>);

/// Finds out who sends the request, and puts the caller into its extensions; otherwise the refusal.
pub(super) async fn authorize(auth: &Auth, parts: &mut Parts) -> Result<(), Response<ResponseBody>> {
    let caller = auth.authenticate(&parts.headers).await.map_err(|refusal| {
        log(auth, refusal, parts);
        refuse(auth, refusal)
    })?;
    if let Some(caller) = caller {
        parts.extensions.insert(caller);
    }
    Ok(())
}

fn refuse(auth: &Auth, refusal: AuthRefusal) -> Response<ResponseBody> {
    let (status, error) = match refusal {
        AuthRefusal::Missing => (StatusCode::UNAUTHORIZED, None),
        AuthRefusal::Malformed => (StatusCode::BAD_REQUEST, Some("invalid_request")),
        AuthRefusal::Invalid(_) => (StatusCode::UNAUTHORIZED, Some("invalid_token")),
        AuthRefusal::InsufficientScope => (StatusCode::FORBIDDEN, Some("insufficient_scope")),
        AuthRefusal::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, None),
    };
    let message: Cow<'static, str> = match (refusal, auth.key_header()) {
        (AuthRefusal::Missing, None) => "authentication is required: see the header WWW-Authenticate".into(),
        (AuthRefusal::Missing, Some(name)) => {
            format!("authentication is required: send your key in the header `{name}`").into()
        }
        (AuthRefusal::Malformed, _) => "the credentials of the request cannot be read".into(),
        (AuthRefusal::Invalid(_), None) => "the credentials have expired, or are not valid for this server".into(),
        (AuthRefusal::Invalid(_), Some(_)) => "the key is not valid for this server".into(),
        (AuthRefusal::InsufficientScope, _) => "the caller lacks a scope: see the header WWW-Authenticate".into(),
        (AuthRefusal::Unavailable, _) => "the credentials cannot be checked at the moment, try again later".into(),
    };
    let mut response = HttpRefusal::new(status, message.clone()).response(None);
    if refusal != AuthRefusal::Unavailable {
        response.extensions_mut().insert(Challenge(error.map(|error| (error, message)), Vec::new()));
    }
    response
}

impl Endpoint {
    /// Sets `WWW-Authenticate` where a caller was refused: for clients of an OAuth issuer, where to get a token and which.
    pub(super) fn challenge(&self, auth: &Auth, response: &mut Response<ResponseBody>, at: Address<'_>) {
        let Some(Challenge(error, missing)) = response.extensions_mut().remove() else { return };
        let challenge = if auth.is_oauth() {
            let mut scopes = auth.required_scopes.clone();
            scopes.extend(missing.into_iter().filter(|scope| !auth.required_scopes.contains(scope)));
            let mut parameters = Vec::new();
            parameters.extend(error.map(|(error, why)| format!(r#"error="{error}", error_description="{why}""#)));
            parameters.extend((!scopes.is_empty()).then(|| format!(r#"scope="{}""#, scopes.join(" "))));
            parameters.push(format!(r#"resource_metadata="{}""#, self.metadata_url(auth, at)));
            format!("Bearer {}", parameters.join(", "))
        } else {
            r#"ApiKey realm="mcp""#.to_owned()
        };
        if let Ok(challenge) = HeaderValue::try_from(challenge) {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        }
    }

    /// Which of its paths a request is for; the endpoint's own, unless it is one of the others.
    pub(super) fn path_of(&self, uri: &Uri) -> &str {
        let (config, path) = (self.engine.http(), uri.path());
        let path = path.strip_prefix(WELL_KNOWN).unwrap_or(path).trim_end_matches('/');
        let mut others = [&config.websocket, &config.sse].into_iter().flatten();
        others.find(|other| other.trim_end_matches('/') == path).unwrap_or(&config.path)
    }

    /// The address of a path: as it was given, or as the request names it, whose host has been checked.
    fn resource_url(&self, auth: &Auth, (host, path): Address<'_>) -> String {
        if let Some(url) = auth.resource.as_deref() {
            return sibling(url, &self.engine.http().path, path).unwrap_or_else(|| url.to_owned());
        }
        let host = host.unwrap_or("localhost");
        let is_local = ["localhost", "127.0.0.1", "[::1]"]
            .iter()
            .any(|local| host.strip_prefix(local).is_some_and(|port| port.is_empty() || port.starts_with(':')));
        let scheme = if is_local { "http" } else { "https" };
        // What could end the quotes of a header is not part of a host.
        let host: String = host.chars().filter(|c| c.is_ascii_alphanumeric() || "-._:[]".contains(*c)).collect();
        format!("{scheme}://{host}{path}")
    }

    /// The address of the document about the endpoint: the well-known path stands before the endpoint's own.
    fn metadata_url(&self, auth: &Auth, at: Address<'_>) -> String {
        let resource = self.resource_url(auth, at);
        let start = resource.find("://").map_or(0, |at| at + 3);
        let end = resource[start..].find('/').map_or(resource.len(), |at| start + at);
        let (origin, path) = resource.split_at(end);
        format!("{origin}{WELL_KNOWN}{}", path.trim_end_matches('/'))
    }

    /// The document about the endpoint.
    pub(super) fn resource_metadata(&self, parts: &Parts) -> Result<Response<ResponseBody>, HttpRefusal> {
        let auth = self.engine.http().auth.as_ref().filter(|auth| auth.is_oauth());
        let Some(auth) = auth else {
            return Err(HttpRefusal::new(StatusCode::NOT_FOUND, "this server does not use OAuth"));
        };
        if !matches!(parts.method, Method::GET | Method::HEAD) {
            return Err(HttpRefusal::new(StatusCode::METHOD_NOT_ALLOWED, "this document is read with GET"));
        }
        let mut document = json!({
            "resource": self.resource_url(auth, (host_of(parts).as_deref(), self.path_of(&parts.uri))),
            "authorization_servers": auth.token_source().as_slice(),
            "bearer_methods_supported": ["header"],
            "resource_name": self.engine.info().name,
        });
        if !auth.required_scopes.is_empty() {
            document["scopes_supported"] = json!(auth.required_scopes);
        }
        let mut response = Response::new(ResponseBody::whole(document.to_string().into()));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("max-age=3600"));
        Ok(response)
    }
}

/// What is logged about a request has the address that it comes from, if callers have credentials.
pub(super) fn request_span(parts: &Parts) -> Span {
    let peer = parts.extensions.get::<PeerAddress>().map(|peer| display(peer.0));
    // Of the highest level, so that every message that is logged has it.
    tracing::error_span!("request", peer)
}

/// The host that a request is for.
pub(super) fn host_of(parts: &Parts) -> Option<String> {
    let named = parts.headers.get(header::HOST).and_then(|host| host.to_str().ok());
    // In HTTP/2 it is in the target.
    named.or_else(|| parts.uri.authority().map(|authority| authority.as_str())).map(str::to_owned)
}

/// Logs a refusal, with where it came from and without what was sent.
fn log(auth: &Auth, refusal: AuthRefusal, parts: &Parts) {
    let peer = parts.extensions.get::<PeerAddress>().map(|peer| peer.0);
    let peer = peer.map_or_else(|| "unknown".to_owned(), |peer| peer.to_string());
    if refusal == AuthRefusal::Missing {
        // How every client begins.
        tracing::debug!(peer, "refused a request: {refusal}");
    } else if let Some(times) = auth.refusals.due(refusal) {
        tracing::warn!(peer, times, "refused a request: {refusal}");
    }
}
