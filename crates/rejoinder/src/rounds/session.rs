//! Questions over a live session: the client is asked at once, and the function waits.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use futures_util::future::try_join_all;
use serde_json::value::RawValue;

use crate::{
    BoxFuture,
    ask::Question,
    auth::{CallerShare, Principal},
    call::{CallRecord, Carrier, Parked},
    error::CallError,
};

/// The client at the other end of a session, as one call sees it.
pub(crate) trait SessionClient: Send + Sync {
    /// Sends a question and waits for its answer. A question that is no longer waited for is cancelled.
    fn ask<'a>(&'a self, key: &'a str, question: &'a Question) -> BoxFuture<'a, Result<Box<RawValue>, CallError>>;
}

/// The carrier of a call on a session.
pub(crate) struct SessionCarrier {
    asked: AskedClient,
    /// How often in a row the call was resumed without progress.
    resumed: AtomicU32,
}

/// How long a call waits before it resumes without progress. It doubles each time, because a client on a session has no way
/// to retry later.
const PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The client, and the caller whose questions are counted.
#[derive(Clone)]
struct AskedClient {
    client: Arc<dyn SessionClient>,
    share: CallerShare,
    caller: Option<Principal>,
}

impl AskedClient {
    async fn ask(&self, key: &str, question: &Question) -> Result<Box<RawValue>, CallError> {
        let slot = self.share.take(self.caller.as_ref());
        let _slot =
            slot.map_err(|used_up| CallError::new(format!("the client could not be asked `{key}`: {used_up}")))?;
        self.client.ask(key, question).await
    }
}

impl SessionCarrier {
    pub(crate) fn new(client: Arc<dyn SessionClient>, share: CallerShare, caller: Option<Principal>) -> Self {
        Self { asked: AskedClient { client, share, caller }, resumed: AtomicU32::new(0) }
    }

    /// How long the call waits before its function runs again.
    fn pause(&self, has_progressed: bool) -> Option<Duration> {
        if has_progressed {
            self.resumed.store(0, Ordering::Relaxed);
            return None;
        }
        let resumed = self.resumed.fetch_add(1, Ordering::Relaxed) + 1;
        Some(PAUSE.saturating_mul(1 << resumed.min(10)).min(LONGEST_PAUSE))
    }
}

impl Carrier for SessionCarrier {
    fn ask<'a>(
        &'a self,
        key: &'a str,
        question: &'a Question,
    ) -> Option<BoxFuture<'a, Result<Box<RawValue>, CallError>>> {
        Some(Box::pin(self.asked.ask(key, question)))
    }

    fn park(&self, questions: Vec<(Arc<str>, Question)>, record: &CallRecord) -> Result<Parked, CallError> {
        let asked = self.asked.clone();
        let pause = self.pause(!questions.is_empty() || record.has_progressed());
        Ok(Parked::Waiting(Box::pin(async move {
            let answers = try_join_all(questions.iter().map(|(key, question)| asked.ask(key, question))).await?;
            match pause {
                None => tokio::task::yield_now().await,
                Some(pause) => tokio::time::sleep(pause).await,
            }
            Ok(questions.into_iter().map(|(key, _)| key).zip(answers).collect())
        })))
    }
}
