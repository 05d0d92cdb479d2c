//! Requests of the session era: `initialize` once, then requests that name the session.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request};
use http_body_util::Full;
use serde_json::{Value, json};

use super::{Client, Error, Result, exchange::Exchange, reply::read, taking_back::TakingBack};

/// The newest version of that era.
const VERSION: &str = "2025-11-25";

/// An open session.
#[derive(Debug, Clone)]
pub(super) struct Session {
    /// What every request repeats.
    pub(super) headers: HeaderMap,
}

impl Client {
    /// A request, and what takes it back.
    pub(super) async fn session_request(
        &self,
        method: &str,
        params: Value,
    ) -> Result<(Request<Full<Bytes>>, TakingBack)> {
        let session = self.session.get_or_try_init(|| self.open_session()).await?;
        let id = self.next_id();
        let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
        let cancelled = self.http(Method::POST, session.headers.clone(), cancelled.to_string().into());
        let request = self.in_session(id, &session.headers, method, params);
        Ok((request, TakingBack::with(self.service.clone(), cancelled)))
    }

    fn in_session(&self, id: u64, headers: &HeaderMap, method: &str, mut params: Value) -> Request<Full<Bytes>> {
        if params.is_null() {
            params = json!({});
        }
        if method != "initialize" && params["_meta"].get("progressToken").is_none() {
            params["_meta"]["progressToken"] = id.into();
        }
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.http(Method::POST, headers.clone(), body.to_string().into())
    }

    async fn open_session(&self) -> Result<Session> {
        let hello = json!({ "protocolVersion": VERSION, "capabilities": self.capabilities, "clientInfo": self.info });
        let request = self.in_session(self.next_id(), &HeaderMap::new(), "initialize", hello);
        let mut exchange = Exchange::open(self.service.clone(), "initialize", request).await;
        let welcome = exchange.finish().await?.result;
        let version: String = read("initialize", &welcome["protocolVersion"])?;
        let mut headers = HeaderMap::new();
        let version = HeaderValue::try_from(version);
        headers.insert(
            "mcp-protocol-version",
            version.map_err(|error| Error::unexpected("initialize", error.to_string(), &welcome))?,
        );
        if let Some(id) = exchange.headers.remove("mcp-session-id") {
            headers.insert("mcp-session-id", id);
        }
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let ready = self.http(Method::POST, headers.clone(), ready.to_string().into());
        let mut accepted = Exchange::open(self.service.clone(), "notifications/initialized", ready).await;
        if let Some(message) = accepted.next().await? {
            return Err(accepted.error(message));
        }
        if let Some(level) = self.log_level {
            let request = self.in_session(self.next_id(), &headers, "logging/setLevel", json!({ "level": level }));
            Exchange::open(self.service.clone(), "logging/setLevel", request).await.finish().await?;
        }
        Ok(Session { headers })
    }

    /// Answers a request of the server's.
    pub(super) async fn respond(&self, response: &Value) -> Result<()> {
        let session = self.session.get_or_try_init(|| self.open_session()).await?;
        let request = self.http(Method::POST, session.headers.clone(), response.to_string().into());
        let mut accepted = Exchange::open(self.service.clone(), "response", request).await;
        match accepted.next().await? {
            Some(message) => Err(accepted.error(message)),
            None => Ok(()),
        }
    }

    /// The stream on which the server speaks up by itself.
    pub(super) async fn session_stream(&self) -> Result<Exchange> {
        let session = self.session.get_or_try_init(|| self.open_session()).await?;
        let request = self.http(Method::GET, session.headers.clone(), Bytes::new());
        Ok(Exchange::open(self.service.clone(), "GET", request).await)
    }
}
