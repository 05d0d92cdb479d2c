//! `subscriptions/listen`: changes, as they happen, until one side has enough.

use std::task::{Context, Poll};

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use super::{RpcError, dispatched::Frame, tasks::ShownTask, write::Writer};
use crate::{
    server::{Change, ChangeFilter, Engine, Heard, Listener, TargetKind},
    tasks::TaskId,
};

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
    task_ids: Option<Vec<String>>,
}

/// The next message of a subscription: what it is to, and then what changes.
pub(super) fn poll_subscription(
    (listener, unacknowledged): &mut (Listener, Option<ChangeFilter>),
    cx: &Context<'_>,
    writer: &Writer,
) -> Poll<Frame> {
    let notification = |method: &str, params| Frame::Notification(writer.of_subscription(method, params));
    if let Some(filter) = unacknowledged.take() {
        let params = json!({ "notifications": describe(&filter) }).to_string();
        return Poll::Ready(notification("notifications/subscriptions/acknowledged", params));
    }
    listener.poll_change(cx).map(|heard| match heard.map(described) {
        Some((method, params)) => notification(&method, params),
        None => Frame::Last(writer.unsubscribed()),
    })
}

/// What a listener hears, as the method and params of a notification.
fn described(heard: Heard) -> (String, String) {
    match heard {
        Heard::Change(Change::List(kind)) => (format!("notifications/{}/list_changed", kind.plural()), "{}".to_owned()),
        Heard::Change(Change::Updated(uri)) => {
            ("notifications/resources/updated".to_owned(), json!({ "uri": uri }).to_string())
        }
        // A listener hears of a task as it is.
        Heard::Change(Change::Task(id)) => {
            ("notifications/tasks".to_owned(), json!({ "taskId": id.to_string() }).to_string())
        }
        Heard::Task(task, now) => ("notifications/tasks".to_owned(), ShownTask::of(&task, now).to_json()),
    }
}

/// What a session hears, as a message.
pub(super) fn change_notification(heard: Heard) -> Bytes {
    let (method, params) = described(heard);
    format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\",\"params\":{params}}}").into()
}

/// What the request wants, as far as the server has it.
pub(super) fn filter(engine: &Engine, params: &str) -> Result<ChangeFilter, RpcError> {
    let not_a_filter = |error| RpcError::invalid_params(format!("`params.notifications` is not a filter: {error}"));
    let params: ListenParams<'_> = serde_json::from_str(params).map_err(not_a_filter)?;
    let wanted = params.notifications.get();
    if !wanted.starts_with('{') {
        return Err(RpcError::invalid_params("`params.notifications` must be an object"));
    }
    let wanted: Wanted = serde_json::from_str(wanted).map_err(not_a_filter)?;
    let lists = [wanted.tools_list_changed, wanted.prompts_list_changed, wanted.resources_list_changed];
    let lists = TargetKind::ALL.map(|kind| lists[kind as usize] == Some(true) && engine.declares(kind));
    let mut filter = ChangeFilter { lists, ..ChangeFilter::default() };
    let updated = wanted.resource_subscriptions.filter(|_| engine.declares(TargetKind::Resource));
    let ids = wanted.task_ids.filter(|_| engine.offers_tasks()).unwrap_or_default();
    // What is not an id is looked for all the same.
    let mut too_many = ids.iter().map(|id| filter.add_task(id.parse().unwrap_or_else(|_| TaskId::new())));
    too_many.find_map(Result::err).map_or(Ok(()), |too_many| {
        Err(RpcError::invalid_params(format!("`params.notifications.taskIds`: {too_many}")))
    })?;
    let mut added = updated.into_iter().flatten().map(|uri| filter.add_resource(uri));
    added.find_map(Result::err).map_or(Ok(()), |too_much| {
        Err(RpcError::invalid_params(format!("`params.notifications.resourceSubscriptions`: {too_much}")))
    })?;
    Ok(filter)
}

fn describe(filter: &ChangeFilter) -> Value {
    let mut described = json!({});
    for kind in TargetKind::ALL.into_iter().filter(|kind| filter.lists[*kind as usize]) {
        described[format!("{}ListChanged", kind.plural())] = true.into();
    }
    if !filter.tasks.is_empty() {
        described["taskIds"] = filter.tasks.iter().map(|id| json!(id.to_string())).collect();
    }
    if !filter.updated.is_empty() {
        described["resourceSubscriptions"] = json!(filter.updated);
    }
    described
}
