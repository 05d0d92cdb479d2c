//! Questions over a live session: the client is asked at once, and the function waits.

use std::{sync::Arc, time::Duration};

use futures_util::future::{BoxFuture, try_join_all};
use serde_json::value::RawValue;

use crate::{
    ask::Question,
    auth::{Budget, Principal},
    call::{CallRecord, Carrier, Parked},
    error::CallError,
};

/// The client at the other end of a session, as one call sees it.
pub(crate) trait SessionClient: Send + Sync {
    /// Sends a question and waits for its answer. A question that is no longer waited for is cancelled.
    fn ask<'a>(&'a self, key: &'a str, question: &'a Question) -> BoxFuture<'a, Result<Box<RawValue>, CallError>>;
}

/// The carrier of a call on a session: the client, and the caller whose questions are counted.
#[derive(Clone)]
pub(crate) struct SessionCarrier {
    pub(crate) client: Arc<dyn SessionClient>,
    pub(crate) share: Budget,
    pub(crate) bytes: Budget,
    pub(crate) caller: Option<Principal>,
}

/// How long a call waits before it resumes without progress, because a client on a session has no way to retry later.
const PAUSE: Duration = Duration::from_millis(200);

impl SessionCarrier {
    async fn answer(&self, key: &str, question: &Question) -> Result<Box<RawValue>, CallError> {
        let caller = self.caller.as_ref();
        let held = || self.bytes.take(caller, question.params().to_string().len());
        let slot = self.share.take(caller, 1).and_then(|slot| Ok((slot, held()?)));
        let _slot = slot.map_err(|full| CallError::new(format!("the client could not be asked `{key}`: {full}")))?;
        self.client.ask(key, question).await
    }
}

impl Carrier for SessionCarrier {
    fn ask<'a>(
        &'a self,
        key: &'a str,
        question: &'a Question,
    ) -> Option<BoxFuture<'a, Result<Box<RawValue>, CallError>>> {
        Some(Box::pin(self.answer(key, question)))
    }

    fn park(&self, questions: Vec<(Arc<str>, Question)>, record: &mut CallRecord) -> Result<Parked, CallError> {
        let carrier = self.clone();
        let has_progressed = !questions.is_empty() || record.has_progressed();
        Ok(Parked::Waiting(Box::pin(async move {
            let answers = try_join_all(questions.iter().map(|(key, question)| carrier.answer(key, question))).await?;
            if has_progressed {
                tokio::task::yield_now().await;
            } else {
                tokio::time::sleep(PAUSE).await;
            }
            Ok(questions.into_iter().map(|(key, _)| key).zip(answers).collect())
        })))
    }
}
