//! How requests travel, whatever they say.

use serde_json::{Value, json};

use crate::recorded::{SESSION, STATELESS, everything};

/// A request, and what a transport must know of it.
pub(crate) struct Request {
    pub(crate) message: Value,
    /// The session that it belongs to; none in the stateless era.
    pub(crate) session: Option<Session>,
}

/// An open session: its name, where the transport gives it one.
#[derive(Clone, Default)]
pub(crate) struct Session(pub(crate) Option<String>);

/// What came back.
pub(crate) struct Reply {
    /// Over HTTP, the status.
    pub(crate) http: Option<u64>,
    pub(crate) message: Value,
    /// Over HTTP, the session that was opened.
    pub(crate) session: Session,
}

/// A connection to the server.
pub(crate) trait Wire {
    /// Sends a request, has its user answer what the server asks on the way, and waits for the reply.
    async fn request(&mut self, request: Request, answer: &mut dyn FnMut(&Value) -> Value) -> Reply;

    /// Tells the server something.
    async fn notify(&mut self, message: Value, session: &Session);

    async fn open_session(&mut self) -> Session {
        let info = json!({ "name": "parity", "version": "1" });
        let params = json!({ "protocolVersion": SESSION, "capabilities": everything(), "clientInfo": info });
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
        let request = Request { message, session: Some(Session::default()) };
        let reply = self.request(request, &mut |question| panic!("too early to ask: {question}")).await;
        assert_eq!(reply.message["result"]["protocolVersion"], SESSION, "{}", reply.message);
        self.notify(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }), &reply.session).await;
        reply.session
    }
}

impl Request {
    /// A call of the stateless era.
    pub(crate) fn stateless(mut params: Value, capabilities: &Value) -> Self {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": STATELESS,
            "io.modelcontextprotocol/clientCapabilities": capabilities,
            "io.modelcontextprotocol/clientInfo": { "name": "parity", "version": "1" },
        });
        Self { message: json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params }), session: None }
    }

    /// A call on a session.
    pub(crate) fn in_session(params: Value, session: Session) -> Self {
        let message = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params });
        Self { message, session: Some(session) }
    }
}

/// Whether the server asks something.
pub(crate) fn is_question(message: &Value) -> bool {
    message.get("method").is_some() && message.get("id").is_some()
}

/// What a client sends when it was asked.
pub(crate) fn response(question: &Value, answer: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer })
}
