//! How the client reaches the server.

/// The transport between a [`Client`](super::Client) and its server; see [`Client::transport`](super::Client::transport).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Transport {
    /// Streamable HTTP.
    #[default]
    Http,
    /// Lines on a pipe, as on standard input and output.
    #[cfg(feature = "stdio")]
    Stdio,
    /// WebSocket. The headers and extensions of the client are those of the request that opens it.
    #[cfg(feature = "ws")]
    WebSocket,
    /// HTTP+SSE. The headers and extensions of the client are those of each message.
    #[cfg(feature = "sse")]
    Sse,
}

/// A pipe in memory.
#[cfg(feature = "stdio")]
pub(super) mod pipe {
    use futures_util::stream::unfold;
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, duplex, split};

    use crate::{server::BuiltServer, testing::link::Link};

    /// Opens a pipe, with the server at its other end.
    pub(in crate::testing) fn open(server: &BuiltServer) -> Link {
        let (ours, theirs) = duplex(64 * 1024);
        let (input, output) = split(theirs);
        tokio::spawn(server.clone().serve_io(input, output));
        let (input, mut output) = split(ours);
        let lines = unfold(BufReader::new(input).lines(), |mut lines| async {
            let line = lines.next_line().await.ok()??;
            Some((line, lines))
        });
        Link::open(lines, |mut outgoing| async move {
            while let Some(message) = outgoing.recv().await {
                if output.write_all(&[message.body(), &b"\n"[..]].concat()).await.is_err() {
                    return;
                }
            }
        })
    }
}

/// A WebSocket in memory.
#[cfg(feature = "ws")]
pub(super) mod web_socket {
    use std::future::ready;

    use bytes::Bytes;
    use futures_util::{SinkExt, StreamExt};
    use http::{Request, StatusCode};
    use hyper::{body::Incoming, server::conn::http1, service::service_fn};
    use hyper_util::rt::TokioIo;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio_tungstenite::{
        WebSocketStream,
        tungstenite::{Message, protocol::Role},
    };
    use tower_service::Service;

    use crate::{
        testing::{ClientError, Result, link::Link},
        transport::McpService,
    };

    /// Opens a WebSocket, with the headers and extensions of that request.
    pub(in crate::testing) async fn open(service: &McpService, opening: Request<Bytes>) -> Result<Link> {
        let (mut ours, theirs) = duplex(64 * 1024);
        let (service, extensions) = (service.websocket(), opening.extensions().clone());
        let serve = service_fn(move |mut request: Request<Incoming>| {
            let mut service = service.clone();
            request.extensions_mut().extend(extensions.clone());
            async move { service.call(request).await }
        });
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(theirs), serve).with_upgrades());

        let mut head = b"GET / HTTP/1.1\r\nconnection: upgrade\r\nupgrade: websocket\r\n".to_vec();
        head.extend(b"sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n");
        for (name, value) in opening.headers() {
            head.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
        }
        head.extend(b"\r\n");
        let sent = ours.write_all(&head).await;
        let mut answer = Vec::new();
        while sent.is_ok() && !answer.ends_with(b"\r\n\r\n") {
            // One by one: what follows the head is the first frame.
            let Ok(byte) = ours.read_u8().await else { break };
            answer.push(byte);
        }
        if !answer.starts_with(b"HTTP/1.1 101 ") {
            let body = String::from_utf8_lossy(&answer).into_owned();
            let status = body.split(' ').nth(1).and_then(|status| status.parse().ok());
            return Err(ClientError::without_message("GET", status.unwrap_or(StatusCode::OK), &body));
        }

        let (mut sink, frames) = WebSocketStream::from_raw_socket(ours, Role::Client, None).await.split();
        let texts = frames.filter_map(|frame| {
            ready(match frame {
                Ok(Message::Text(text)) => Some(text.to_string()),
                _ => None,
            })
        });
        Ok(Link::open(texts, |mut outgoing| async move {
            while let Some(message) = outgoing.recv().await {
                let text = String::from_utf8_lossy(message.body()).into_owned();
                if sink.send(Message::text(text)).await.is_err() {
                    return;
                }
            }
            let _ = sink.close().await;
        }))
    }
}

/// A stream of events, and the posts that belong to it.
#[cfg(feature = "sse")]
pub(super) mod event_stream {
    use bytes::Bytes;
    use futures_util::stream::{StreamExt, poll_fn, select};
    use http::{Request, Uri};
    use http_body_util::{BodyExt, Full};
    use tokio::sync::mpsc;
    use tower_service::Service;

    use crate::{
        testing::{ClientError, Result, exchange::events, link::Link},
        transport::McpService,
    };

    /// Opens a stream with that request.
    pub(in crate::testing) async fn open(service: &McpService, opening: Request<Bytes>) -> Result<Link> {
        let mut service = service.sse();
        let Ok(response) = service.call(opening.map(Full::new)).await;
        let (parts, body) = response.into_parts();
        let mut events = events(body).boxed();
        // The first event says where messages go.
        let endpoint = events.next().await.and_then(|endpoint| format!("/{endpoint}").parse::<Uri>().ok());
        let Some(endpoint) = endpoint else {
            return Err(ClientError::without_message("GET", parts.status, "no event says where messages go"));
        };

        // What a POST is refused with comes back in its response and not on the stream.
        let (refused, mut refusals) = mpsc::channel(1);
        let incoming = select(events, poll_fn(move |cx| refusals.poll_recv(cx)));
        Ok(Link::open(incoming, |mut outgoing| async move {
            while let Some(mut message) = outgoing.recv().await {
                *message.uri_mut() = endpoint.clone();
                let Ok(response) = service.call(message.map(Full::new)).await;
                if !response.status().is_success() {
                    let body = response.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
                    let _ = refused.send(String::from_utf8_lossy(&body).into_owned()).await;
                }
            }
        }))
    }
}

#[cfg(all(test, feature = "sse"))]
mod tests {
    use serde_json::json;

    use super::Transport;
    use crate::{
        prelude::*,
        server::Limits,
        testing::{Client, ClientError},
    };

    #[tool]
    fn length(text: String) -> usize {
        text.len()
    }

    #[tokio::test]
    async fn a_post_to_a_stream_of_events_that_is_refused_is_an_error_of_its_request() {
        let server = Server::new("small", "1.0.0").tools(tools![length]);
        let server = server.limits(Limits::new().message_size(2000));
        let client = Client::new(server).transport(Transport::Sse);
        let refused = client.call_tool("length", json!({ "text": "x".repeat(3000) })).await;
        assert!(matches!(&refused, Err(ClientError::Rpc(error)) if error.message.contains("2000")), "{refused:?}");
        assert_eq!(client.call_tool("length", json!({ "text": "xx" })).await.expect("a reply").text(), "2");
    }
}
