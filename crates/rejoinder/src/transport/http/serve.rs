use std::{convert::Infallible, io, pin::pin, time::Duration};

use ::http::{Request, Response, StatusCode};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    net::{TcpListener, TcpStream},
    time::{sleep, timeout},
};

use super::{
    McpService, ResponseBody,
    activity::{Activity, Telling},
    connections::Connections,
    in_one::InOne,
};
use crate::{
    server::BuiltServer,
    transport::shutdown::{Shutdown, finish_teardown},
};

/// Serves on a listener, at `/mcp`, until told to stop; then calls in flight have the grace period to finish.
pub(in crate::transport) async fn serve(
    server: BuiltServer,
    listener: TcpListener,
    shutdown: Shutdown,
) -> io::Result<()> {
    let (grace, most) = (server.0.options.grace, server.0.options.http.max_connections);
    let engine = std::sync::Arc::clone(&server.0);
    let service = McpService::new(server.0);
    let mut connections = Connections::new(engine.options.http.header_timeout);
    let mut pause = pin!(connections.pause());
    loop {
        tokio::select! {
            stream = accept(&listener), if connections.len() < most => {
                connections.add(|activity| connection(stream, service.clone(), activity, shutdown.clone()));
            }
            true = connections.ended() => {}
            () = &mut pause => {
                connections.close_silent();
                pause.set(connections.pause());
            }
            () = shutdown.wait() => break,
        }
    }
    // Whoever connects from now on is refused at once.
    drop(listener);
    let finishing = async {
        engine.hub.close();
        // A session outlives its calls, and ends only when it is told to.
        engine.calls.idle().await;
        service.replied().await;
        service.close().await;
        while connections.ended().await {}
    };
    if timeout(grace, finishing).await.is_err() {
        tracing::warn!(?grace, "calls were still in flight at the end of the grace period");
    }
    // Before the sessions: one whose client does not read hears of its end only when the connection is gone.
    connections.close().await;
    service.close().await;
    finish_teardown(&engine).await;
    Ok(())
}

/// The next connection. One that failed is its client's trouble; a lack of files passes.
async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            Err(error) => match error.kind() {
                io::ErrorKind::ConnectionRefused
                | io::ErrorKind::ConnectionAborted
                | io::ErrorKind::ConnectionReset => {}
                _ => {
                    tracing::error!(%error, "no connection can be accepted");
                    sleep(Duration::from_millis(100)).await;
                }
            },
        }
    }
}

/// Serves one connection to its end.
async fn connection(stream: TcpStream, service: McpService, activity: Activity, shutdown: Shutdown) {
    // A reply is written whole: waiting to fill a packet would only delay it.
    let _ = stream.set_nodelay(true);
    let stream = TokioIo::new(InOne(Telling::new(stream, activity.clone())));
    let answer = service_fn(move |request| {
        let (service, answering) = (service.clone(), activity.begin());
        async move { Ok::<_, Infallible>(at_mcp(service, request).await.map(|body| body.until_made(answering))) }
    });
    let mut connection = pin!(http1::Builder::new().serve_connection(stream, answer));
    let ended = tokio::select! {
        ended = &mut connection => ended,
        () = shutdown.wait() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection failed");
    }
}

/// The service at `/mcp`, and nothing elsewhere.
async fn at_mcp(service: McpService, request: Request<Incoming>) -> Response<ResponseBody> {
    if request.uri().path() == "/mcp" {
        return service.respond(request).await;
    }
    let mut elsewhere = Response::new(ResponseBody::text("the MCP endpoint is /mcp\n"));
    *elsewhere.status_mut() = StatusCode::NOT_FOUND;
    elsewhere
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::io::AsyncWriteExt;

    use super::*;
    use crate::{
        CallEnd,
        prelude::*,
        transport::waiting::{Seen, wait},
    };

    #[tokio::test]
    async fn what_cancelled_calls_deferred_is_done_before_the_server_has_stopped() {
        let seen = Arc::new(Seen::default());
        let server = Server::new("waiting", "1.0.0").provide_arc(Arc::clone(&seen)).tools(tools![wait]);
        let server = server.grace_period(Duration::from_millis(50)).build().expect("a good server");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let shutdown = Shutdown::default();
        let serving = tokio::spawn(serve(server, listener, shutdown.clone()));
        let body = serde_json::json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "wait",
            "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {} } } })
        .to_string();
        let mut client = TcpStream::connect(address).await.expect("the server accepts");
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, \
             text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: wait\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        client.write_all(head.as_bytes()).await.expect("the server reads");
        seen.begun.notified().await;
        shutdown.stop();
        serving.await.expect("it does not panic").expect("it stops well");
        assert_eq!(seen.ending(), Some(CallEnd::Cancelled));
    }
}
