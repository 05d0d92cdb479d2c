//! A server inside an axum application, at its own path and behind a layer that authenticates the user.

use axum::{
    Router,
    extract::Request,
    http::StatusCode,
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::get,
};
use rejoinder::{auth::Principal, prelude::*};
use tokio::net::TcpListener;

/// Return the name of the user.
#[tool(read_only)]
async fn whoami(caller: Principal) -> String {
    caller.subject().to_owned()
}

/// Replace this with your authentication. It refuses requests without a token.
async fn authenticate(mut request: Request, next: Next) -> Response {
    let token = request.headers().get("authorization").and_then(|value| value.to_str().ok());
    match token.and_then(|token| token.strip_prefix("Bearer ")) {
        Some(user) => {
            // From here on it is the caller: only the user who was asked can answer.
            let user = Principal::new(user);
            request.extensions_mut().insert(user);
            next.run(request).await
        }
        None => (StatusCode::UNAUTHORIZED, "the header `Authorization: Bearer ..` is missing").into_response(),
    }
}

fn app() -> rejoinder::Result<Router> {
    let server = Server::new("mounted", "1.0.0").tools(tools![whoami]).build()?;
    Ok(Router::new()
        .route_service("/api/mcp", server.into_service())
        .layer(middleware::from_fn(authenticate))
        .route("/", get(async || "the MCP endpoint is /api/mcp")))
}

#[tokio::main]
async fn main() -> rejoinder::Result<()> {
    rejoinder::log_to_stderr();
    let listener = TcpListener::bind("127.0.0.1:8000").await?;
    Ok(axum::serve(listener, app()?).await?)
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use http_body_util::BodyExt;
    use tower_service::Service;

    use super::*;

    async fn whoami(token: Option<&str>) -> (StatusCode, String) {
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"whoami","_meta":{
            "io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
        let mut request = Request::post("/api/mcp")
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "tools/call")
            .header("mcp-name", "whoami");
        if let Some(token) = token {
            request = request.header("authorization", token);
        }
        let response = app().unwrap().call(request.body(Body::from(body)).unwrap()).await.unwrap();
        let status = response.status();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn the_tool_sees_the_user_of_the_layer() {
        let (status, body) = whoami(Some("Bearer ada")).await;
        assert_eq!(status, StatusCode::OK);
        assert!(body.contains(r#""text":"ada""#), "{body}");
        assert_eq!(whoami(None).await.0, StatusCode::UNAUTHORIZED);
    }
}
