//! Requests of the stateless era: each says everything, in `_meta` and again in headers.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request};
use http_body_util::Full;
use serde_json::{Map, Value, json};

use super::Client;
use crate::{protocol::MODERN, server::TargetKind};

impl Client {
    pub(super) fn stateless_request(&self, method: &str, mut params: Value) -> Request<Full<Bytes>> {
        let id = self.next_id();
        if params.is_null() {
            params = json!({});
        }
        if let Value::Object(params) = &mut params {
            let own = params.remove("_meta");
            params.insert("_meta".into(), self.meta(id, own));
        }
        let headers = self.stateless_headers(method, &params);
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.http(Method::POST, headers, body.to_string().into())
    }

    /// What the request says of itself; an entry of the caller's own wins, and `null` takes it out.
    fn meta(&self, id: u64, own: Option<Value>) -> Value {
        let mut meta = json!({
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": self.capabilities,
            "io.modelcontextprotocol/clientInfo": self.info,
            "progressToken": id,
        });
        if let Some(level) = self.log_level {
            meta["io.modelcontextprotocol/logLevel"] = json!(level);
        }
        match (own, &mut meta) {
            (Some(Value::Object(own)), Value::Object(entries)) => {
                entries.extend(own);
                entries.retain(|_, entry| !entry.is_null());
                meta
            }
            (None, _) => meta,
            (Some(own), _) => own,
        }
    }

    /// The headers that repeat what the body says.
    fn stateless_headers(&self, method: &str, params: &Value) -> HeaderMap {
        let version = params["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str();
        let name = match method {
            "tools/call" | "prompts/get" => params["name"].as_str(),
            "resources/read" => params["uri"].as_str(),
            _ => None,
        };
        let mut headers = HeaderMap::new();
        for (header, value) in [("mcp-protocol-version", version), ("mcp-method", Some(method)), ("mcp-name", name)] {
            if let Some(value) = value {
                headers.insert(header, header_value(value));
            }
        }
        let tool = name.filter(|_| method == "tools/call").and_then(|name| self.server.0.entry(TargetKind::Tool, name));
        for param in tool.iter().flat_map(|tool| &tool.param_headers) {
            let argument = param.path.iter().try_fold(&params["arguments"], |value, key| value.get(key));
            let text = match argument {
                None | Some(Value::Null) => continue,
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
            };
            if let Ok(name) = HeaderName::try_from(&param.header) {
                headers.insert(name, header_value(&text));
            }
        }
        headers
    }
}

/// Text as a header's value: as it is where that is allowed, else in base64.
fn header_value(text: &str) -> HeaderValue {
    let plain = text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
        && text.trim() == text
        && !(text.starts_with("=?base64?") && text.ends_with("?="));
    let text = if plain { text.to_owned() } else { format!("=?base64?{}?=", STANDARD.encode(text)) };
    HeaderValue::try_from(text).expect("printable ASCII is a header's value")
}

/// An empty object where nothing was given.
pub(super) fn object(arguments: Value) -> Value {
    if arguments.is_null() { Value::Object(Map::new()) } else { arguments }
}
