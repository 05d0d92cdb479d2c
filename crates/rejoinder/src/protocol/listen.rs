//! `subscriptions/listen`: changes, as they happen, until one side has enough.

use std::task::{Context, Poll};

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use super::{RpcError, answer::Frame, write::Writer};
use crate::server::{Change, ChangeFilter, Engine, FilterTooLarge, Listener, TargetKind};

/// An open subscription.
pub(super) struct Listen {
    subscription: Listener,
    acknowledgement: Option<Value>,
}

#[derive(Deserialize)]
struct ListenParams<'a> {
    // Not `Wanted` at once: an array would do for it, too.
    #[serde(borrow)]
    notifications: &'a RawValue,
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
    pub(super) fn new(subscription: Listener, filter: &ChangeFilter) -> Self {
        let acknowledgement = Some(describe(filter));
        Self { subscription, acknowledgement }
    }

    pub(super) fn poll_frame(&mut self, cx: &Context<'_>, writer: &Writer) -> Poll<Frame> {
        let notification = |method: &str, params| Frame::Notification(writer.of_subscription(method, &params));
        if let Some(filter) = self.acknowledgement.take() {
            let params = json!({ "notifications": filter });
            return Poll::Ready(notification("notifications/subscriptions/acknowledged", params));
        }
        self.subscription.poll_change(cx).map(|change| match change.map(described_change) {
            Some((method, params)) => notification(&method, params),
            None => Frame::Last(writer.unsubscribed()),
        })
    }
}

/// A change as the method and params of a notification.
fn described_change(change: Change) -> (String, Value) {
    match change {
        Change::List(kind) => (format!("notifications/{}/list_changed", kind.plural()), json!({})),
        Change::Updated(uri) => ("notifications/resources/updated".to_owned(), json!({ "uri": uri })),
    }
}

/// A change as a session hears about it.
pub(super) fn change_notification(change: Change) -> Bytes {
    let (method, params) = described_change(change);
    json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string().into()
}

/// What the request wants, as far as the server has it.
pub(super) fn filter(engine: &Engine, params: &str) -> Result<ChangeFilter, RpcError> {
    let not_a_filter = |error| RpcError::invalid_params(format!("`params.notifications` is not a filter: {error}"));
    let params: ListenParams<'_> = serde_json::from_str(params).map_err(not_a_filter)?;
    let wanted = params.notifications.get();
    if !wanted.starts_with('{') {
        return Err(RpcError::invalid_params("`params.notifications` must be an object"));
    }
    let wanted = serde_json::from_str(wanted).map_err(not_a_filter)?;
    honoured(wanted, engine).map_err(|too_much| {
        RpcError::invalid_params(format!("`params.notifications.resourceSubscriptions`: {too_much}"))
    })
}

fn honoured(wanted: Wanted, engine: &Engine) -> Result<ChangeFilter, FilterTooLarge> {
    let lists = [wanted.tools_list_changed, wanted.prompts_list_changed, wanted.resources_list_changed];
    let lists = TargetKind::ALL.map(|kind| lists[kind as usize] == Some(true) && engine.declares(kind));
    let mut filter = ChangeFilter { lists, ..ChangeFilter::default() };
    let updated = wanted.resource_subscriptions.filter(|_| engine.declares(TargetKind::Resource));
    updated.into_iter().flatten().try_for_each(|uri| filter.add_resource(uri))?;
    Ok(filter)
}

fn describe(filter: &ChangeFilter) -> Value {
    let mut described = json!({});
    for kind in TargetKind::ALL.into_iter().filter(|kind| filter.lists[*kind as usize]) {
        described[format!("{}ListChanged", kind.plural())] = true.into();
    }
    if !filter.updated.is_empty() {
        described["resourceSubscriptions"] = json!(filter.updated);
    }
    described
}
