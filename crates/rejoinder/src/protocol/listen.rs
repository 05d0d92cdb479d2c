//! `subscriptions/listen`: changes, as they happen, until one side has enough.

use std::task::{Context, Poll};

use bytes::Bytes;
use rejoinder_core::model::ServerCapabilities;
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use super::{RpcError, answer::Frame, write::whole_result};
use crate::server::{Change, Engine, Filter, Subscription};

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// An open subscription.
pub(super) struct Listen {
    subscription: Subscription,
    acknowledgement: Option<Value>,
}

#[derive(Deserialize)]
struct Params {
    notifications: Wanted,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Wanted {
    tools_list_changed: Option<bool>,
    prompts_list_changed: Option<bool>,
    resources_list_changed: Option<bool>,
    resource_subscriptions: Option<Vec<String>>,
}

impl Listen {
    /// Subscribes to what the request wants and the server has.
    pub(super) fn open(engine: &Engine, params: &str) -> Result<Self, RpcError> {
        let params: Params = serde_json::from_str(params)
            .map_err(|error| RpcError::invalid_params(format!("`params.notifications` is not a filter: {error}")))?;
        let filter = honoured(params.notifications, &engine.capabilities);
        let acknowledgement = Some(describe(&filter));
        Ok(Self { subscription: engine.hub.subscribe(filter), acknowledgement })
    }

    pub(super) fn poll_frame(&mut self, cx: &Context<'_>, engine: &Engine, id: &str) -> Poll<Frame> {
        if let Some(filter) = self.acknowledgement.take() {
            let params = json!({ "notifications": filter });
            return Poll::Ready(notification("notifications/subscriptions/acknowledged", params, id));
        }
        self.subscription.poll_change(cx).map(|change| match change {
            Some(Change::Tools) => notification("notifications/tools/list_changed", json!({}), id),
            Some(Change::Prompts) => notification("notifications/prompts/list_changed", json!({}), id),
            Some(Change::Resources) => notification("notifications/resources/list_changed", json!({}), id),
            Some(Change::Updated(uri)) => notification("notifications/resources/updated", json!({ "uri": uri }), id),
            None => Frame::Last(whole_result(
                id,
                &json!({ "resultType": "complete",
                    "_meta": { SUBSCRIPTION: raw(id), "io.modelcontextprotocol/serverInfo": &engine.info } }),
            )),
        })
    }
}

fn notification(method: &str, mut params: Value, id: &str) -> Frame {
    params["_meta"] = json!({ SUBSCRIPTION: raw(id) });
    Frame::Notification(Bytes::from(json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string()))
}

/// The id, with the JSON type it came with.
fn raw(id: &str) -> Value {
    serde_json::from_str::<&RawValue>(id).ok().and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
}

fn honoured(wanted: Wanted, capabilities: &ServerCapabilities) -> Filter {
    let (tools, prompts, resources) = (&capabilities.tools, &capabilities.prompts, &capabilities.resources);
    Filter {
        tools: wanted.tools_list_changed == Some(true) && tools.is_some(),
        prompts: wanted.prompts_list_changed == Some(true) && prompts.is_some(),
        resources: wanted.resources_list_changed == Some(true) && resources.is_some(),
        updated: wanted
            .resource_subscriptions
            .filter(|_| resources.is_some())
            .unwrap_or_default()
            .into_iter()
            .collect(),
    }
}

fn describe(filter: &Filter) -> Value {
    let mut described = json!({});
    for (key, wanted) in [
        ("toolsListChanged", filter.tools),
        ("promptsListChanged", filter.prompts),
        ("resourcesListChanged", filter.resources),
    ] {
        if wanted {
            described[key] = true.into();
        }
    }
    if !filter.updated.is_empty() {
        described["resourceSubscriptions"] = json!(filter.updated);
    }
    described
}
