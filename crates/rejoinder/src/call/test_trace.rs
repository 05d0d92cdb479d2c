//! What a test sees of a call.

use std::{
    borrow::Cow,
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard},
};

use bytes::Bytes;
use tokio::sync::Notify;

use super::BackgroundState;
use crate::{
    ask::Question,
    error::lock,
    form::{ConfirmForm, Elicit, TextForm},
};

/// What happened in a call, and in the task that it became.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallTrace {
    traced: Arc<Mutex<Traced>>,
    task: Arc<Mutex<Traced>>,
    cut: Arc<CallCut>,
}

/// Where a call stops for ever.
#[derive(Debug, Default)]
struct CallCut {
    /// The step, and whether it has been recorded then.
    at: Mutex<Option<(String, bool)>>,
    is_cut: Notify,
}

/// What a [`CallTrace`] has seen.
#[derive(Debug, Default)]
pub(crate) struct Traced {
    /// The names of the resolvers that ran, in order.
    pub(crate) ran: Vec<Cow<'static, str>>,
    /// What a test must add to its client to answer each question that the client could not be asked.
    pub(crate) unanswered: Vec<String>,
    /// How often the body of the function started.
    pub(crate) runs: usize,
    /// The steps that were recorded, in that order.
    pub(crate) steps: Vec<String>,
    /// What earlier runs recorded and the last one did not reach.
    pub(crate) unreached: Vec<String>,
    /// Whether a round ended with a question after new steps, and a deferred function that can fail did not ask whether to keep
    /// what they changed.
    pub(crate) forgets_steps: bool,
    /// The background tasks that the round added.
    pub(crate) background: Vec<Arc<BackgroundState>>,
}

/// The line that a test must add to its client to answer a question.
pub(super) fn answer_to(key: &str, question: &Question, is_typed: bool) -> String {
    let form = match question {
        Question::Form { form, .. } if *form == ConfirmForm::form() => "rejoinder::form::ConfirmForm { yes: true }",
        Question::Form { form, .. } if *form == TextForm::form() => "rejoinder::form::TextForm { text: \"..\".into() }",
        Question::Form { .. } if is_typed => "..",
        // This form has no Rust type, so the test cannot name one.
        Question::Form { .. } => {
            return format!(r#".answer_with({key:?}, json!({{ "action": "accept", "content": {{ .. }} }}))"#);
        }
        Question::Visit { .. } => return format!(r#".answer_with({key:?}, json!({{ "action": "accept" }}))"#),
        _ => return format!(".answer_with({key:?}, json!(..))"),
    };
    format!(".answer({key:?}, {form})")
}

impl CallTrace {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Traced> {
        lock(&self.traced)
    }

    /// What happened in the runs of the task: they may begin before the reply to the call is read.
    pub(crate) fn of_task(&self) -> Self {
        let task = &self.task;
        Self { traced: Arc::clone(task), task: Arc::clone(task), cut: Arc::default() }
    }

    /// Has the call stop for ever, once, before or after it records this step.
    pub(crate) fn cut_at(&self, step: &str, is_after: bool) {
        *lock(&self.cut.at) = Some((step.to_owned(), is_after));
    }

    /// Ready when the call has stopped for ever.
    pub(crate) async fn cut(&self) {
        self.cut.is_cut.notified().await;
    }

    /// Stops for ever, if that is wanted here.
    pub(super) async fn pass(&self, step: &str, is_after: bool) {
        let is_cut = lock(&self.cut.at).take_if(|(at, after)| at == step && *after == is_after).is_some();
        if is_cut {
            self.cut.is_cut.notify_one();
            std::future::pending::<()>().await;
        }
        if is_after {
            self.lock().steps.push(step.to_owned());
        }
    }
}

/// The traces of the calls that tests follow, by the id of the request: every transport carries it.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallTraces(Arc<Mutex<HashMap<Bytes, CallTrace>>>);

impl CallTraces {
    /// Follows the call of the request with that id until the result is dropped.
    pub(crate) fn follow(&self, id: impl Into<Bytes>, trace: CallTrace) -> FollowedCall {
        let id = id.into();
        lock(&self.0).insert(id.clone(), trace);
        FollowedCall { traces: self.clone(), id }
    }

    pub(crate) fn of(&self, id: &Bytes) -> Option<CallTrace> {
        lock(&self.0).get(id).cloned()
    }
}

/// A call that a test follows.
#[derive(Debug)]
pub(crate) struct FollowedCall {
    traces: CallTraces,
    id: Bytes,
}

impl Drop for FollowedCall {
    fn drop(&mut self) {
        lock(&self.traces.0).remove(&self.id);
    }
}
