//! One request of a session, through the door and back.

use std::sync::Arc;

use bytes::Bytes;
use rmcp::{
    RoleServer,
    model::{ErrorCode, ErrorData},
    service::RequestContext,
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json, value::RawValue};

use super::{error, facts::session_request, notify::Notify, reply_stream::ReplyStream, state::Session};
use crate::{
    protocol::{Answer, Envelope, Frame, Origin, Reply, dispatch},
    server::Engine,
};

/// Runs a request. Its future lives in the one returned here, and is dropped as soon as the client cancels the request
/// or the session ends.
pub(super) async fn drive<R: DeserializeOwned>(
    engine: &Arc<Engine>,
    session: &Session,
    context: &RequestContext<RoleServer>,
    method: &str,
    params: &str,
) -> Result<R, ErrorData> {
    let notify = Notify::new(context);
    let reply = {
        // Dropped after the call itself: when it is, what the call deferred is counted.
        let _in_session = session.calls.begin();
        unless_cancelled(session, context, to_the_end(engine, session, context, (method, params), &notify)).await?
    };
    // The call is over and takes up no place, however long its client stays away. There are no more waiting replies than
    // calls; beyond that, one whose client is away is lost.
    let most = engine.options.max_calls;
    if notify.is_client_away()
        && let Some(_untaken) = engine.untaken.begin_below(most)
    {
        unless_cancelled(session, context, notify.before_reply()).await?;
    }
    read(reply)
}

/// Whatever a call emits goes out before its reply, in order.
async fn to_the_end(
    engine: &Arc<Engine>,
    session: &Session,
    context: &RequestContext<RoleServer>,
    (method, params): (&str, &str),
    notify: &Notify,
) -> Reply {
    let (id, meta) = (json!(context.id), json!(context.meta));
    let params = params.strip_suffix('}').unwrap_or("{");
    let comma = if params == "{" { "" } else { "," };
    let body = Bytes::from(format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}{comma}\"_meta\":{meta}}}}}"
    ));
    let envelope = match Envelope::read(&body) {
        Ok(envelope) => envelope,
        Err(bad) => return crate::protocol::error_reply(bad.id.as_deref(), &bad.error),
    };
    let mut stream = match dispatch(engine, &body, envelope, Origin::Session(session_request(session, context))) {
        Answer::Nothing => unreachable!("it has an id"),
        Answer::Reply(reply) => return reply,
        Answer::Stream(stream) => stream,
    };
    loop {
        match stream.frame().await {
            Frame::Notification(message) => notify.tell(&message).await,
            Frame::Last(reply) => return reply,
        }
    }
}

/// A reply, in rmcp's types.
fn read<R: DeserializeOwned>(reply: Reply) -> Result<R, ErrorData> {
    #[derive(Deserialize)]
    struct Message {
        result: Option<Box<RawValue>>,
        error: Option<WireError>,
    }
    #[derive(Deserialize)]
    struct WireError {
        code: i32,
        message: String,
        data: Option<Value>,
    }
    let bytes: Vec<u8> = reply.body.pieces().flatten().collect();
    let message: Message = serde_json::from_slice(&bytes).expect("a reply is JSON");
    match (message.result, message.error) {
        (_, Some(error)) => Err(ErrorData::new(ErrorCode(error.code), error.message, error.data)),
        (Some(result), None) => Ok(serde_json::from_str(result.get()).expect("a result of this kind")),
        (None, None) => unreachable!("a reply has one of them"),
    }
}

/// The future's output, unless the client cancels the request or the session ends first.
pub(super) async fn unless_cancelled<T>(
    session: &Session,
    context: &RequestContext<RoleServer>,
    future: impl Future<Output = T>,
) -> Result<T, ErrorData> {
    let stream = context.extensions.get::<ReplyStream>().cloned().unwrap_or_default();
    tokio::select! {
        biased;
        () = context.ct.cancelled() => Err(error::cancelled()),
        () = stream.ended() => Err(error::cancelled()),
        () = session.ending.cancelled() => Err(error::cancelled()),
        output = future => Ok(output),
    }
}
