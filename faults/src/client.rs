//! What a client of tasks says over HTTP.

use std::{fmt, net::SocketAddr, time::Duration};

use anyhow::Result;
use serde_json::{Value, json};

/// How long a reply may take. A frozen process does not reply.
const LONGEST: Duration = Duration::from_secs(5);

/// Why there is no result.
#[derive(Debug)]
pub(crate) enum Failure {
    /// No reply, or only a part of it: nobody knows what has happened.
    Broken(String),
    /// An error of the protocol, with the status of HTTP.
    Error { status: u16, code: i64, message: String },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broken(why) => write!(f, "no reply: {why}"),
            Self::Error { status, code, message } => write!(f, "HTTP {status}, {code}: {message}"),
        }
    }
}

impl Failure {
    /// Whether it is worth to try again.
    pub(crate) fn is_passing(&self) -> bool {
        matches!(self, Self::Broken(_) | Self::Error { status: 503, .. })
    }
}

/// Sends requests.
#[derive(Debug, Clone)]
pub(crate) struct Client(reqwest::Client);

impl Client {
    pub(crate) fn new() -> Result<Self> {
        Ok(Self(reqwest::Client::builder().timeout(LONGEST).build()?))
    }

    pub(crate) async fn request(&self, to: SocketAddr, method: &str, mut params: Value) -> Result<Value, Failure> {
        let name = params["name"].as_str().or(params["taskId"].as_str()).unwrap_or_default().to_owned();
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "faults", "version": "1.0.0" },
            "io.modelcontextprotocol/clientCapabilities": {
                "elicitation": { "form": {} },
                "extensions": { "io.modelcontextprotocol/tasks": {} },
            },
        });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let request = self.0.post(format!("http://{to}/mcp")).body(body.to_string());
        let request = request
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream")
            .header("MCP-Protocol-Version", "2026-07-28")
            .header("Mcp-Method", method)
            .header("Mcp-Name", name);
        let broken = |error: reqwest::Error| Failure::Broken(format!("{error:?}"));
        let reply = request.send().await.map_err(broken)?;
        let status = reply.status().as_u16();
        let body = reply.bytes().await.map_err(broken)?;
        let mut reply: Value = serde_json::from_slice(&body)
            .map_err(|error| Failure::Broken(format!("{error}: {}", String::from_utf8_lossy(&body))))?;
        if let Some(result) = reply.get_mut("result") {
            return Ok(result.take());
        }
        let error = &reply["error"];
        let message = error["message"].as_str().unwrap_or_default().to_owned();
        Err(Failure::Error { status, code: error["code"].as_i64().unwrap_or_default(), message })
    }
}
