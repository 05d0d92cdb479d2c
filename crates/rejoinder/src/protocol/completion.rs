//! `completion/complete`.

use std::{collections::BTreeMap, sync::Arc};

use crate::call::RequestInfo;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Answer, RpcError, Stream,
    write::{error_reply, result_reply},
};
use crate::server::{Completion, Engine, Reference};

/// Proposes values for an argument while it is typed.
pub(super) fn complete(engine: &Arc<Engine>, params: &str, facts: RequestInfo) -> Result<Answer, RpcError> {
    let params: Params = serde_json::from_str(params)
        .map_err(|error| RpcError::invalid_params(format!("`params` is not a completion request: {error}")))?;
    let (completing, id) = (Arc::clone(engine), facts.request_id.clone());
    let reply = async move {
        let id = String::from_utf8_lossy(&facts.request_id).into_owned();
        let engine = completing;
        let call = engine.call(facts);
        let (argument, known) = (params.argument, params.context.arguments);
        let reference = params.reference.into();
        match engine.complete(&reference, &argument.name, argument.value, known, call).await {
            Ok(Some(completion)) => result_reply(&id, &completed(&completion), &engine.info_json),
            Ok(None) => error_reply(Some(&id), &RpcError::nothing_to_complete(&reference, &argument.name)),
            Err(panicked) => error_reply(Some(&id), &RpcError::panicked("completion", panicked)),
        }
    };
    Ok(Answer::Stream(Stream::later(Arc::clone(engine), id, Box::pin(reply))))
}

fn completed(completion: &Completion) -> Value {
    json!({ "resultType": "complete", "completion": {
        "values": completion.values, "total": completion.total, "hasMore": completion.has_more() } })
}

#[derive(Deserialize)]
struct Params {
    #[serde(rename = "ref")]
    reference: WireReference,
    argument: Argument,
    #[serde(default)]
    context: Known,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum WireReference {
    #[serde(rename = "ref/prompt")]
    Prompt { name: String },
    #[serde(rename = "ref/resource")]
    Resource { uri: String },
}

impl From<WireReference> for Reference {
    fn from(reference: WireReference) -> Self {
        match reference {
            WireReference::Prompt { name } => Self::Prompt(name),
            WireReference::Resource { uri } => Self::Resource(uri),
        }
    }
}

#[derive(Deserialize)]
struct Argument {
    name: String,
    value: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Known {
    arguments: BTreeMap<String, String>,
}
