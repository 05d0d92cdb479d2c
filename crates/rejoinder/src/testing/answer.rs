//! Answers, and which of them is next.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::form::Elicit;
use serde_json::{Value, json};

/// One of several answers to the same key; see [`Client::answers`](super::Client::answers).
///
/// ```
/// use rejoinder::{testing::Answer, form::ConfirmForm};
/// use serde_json::json;
///
/// let by_form = Answer::accept(ConfirmForm { yes: true });
/// let by_hand = Answer::with(json!({ "action": "accept", "content": { "yes": true } }));
/// assert_eq!(by_form, by_hand);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Answer(Option<Value>);

impl Answer {
    /// The form, filled in.
    pub fn accept(form: impl Elicit) -> Self {
        Self::with(json!({ "action": "accept", "content": form.write() }))
    }

    /// The user says no.
    pub fn decline() -> Self {
        Self::with(json!({ "action": "decline" }))
    }

    /// The user goes away without an answer.
    pub fn cancel() -> Self {
        Self::with(json!({ "action": "cancel" }))
    }

    /// This, as it stands: for choices, samples, roots, and answers that no client should give.
    pub fn with(answer: Value) -> Self {
        Self(Some(answer))
    }

    /// None in this round: the others of the round are answered, and this question is left open.
    ///
    /// Over a session a question waits where it is asked, so there is no round to leave it open in: a call that comes to
    /// this is an error of the test.
    ///
    /// ```
    /// use rejoinder::{Ask, prelude::*, testing::{Answer, Client}, form::ConfirmForm};
    /// use serde_json::json;
    ///
    /// /// Asks two people at once.
    /// #[tool]
    /// async fn launch(ctx: Context) -> Result<bool, CallError> {
    ///     let (ada, eve) = tokio::try_join!(ctx.ask("ada", Ask::confirm("Go?")), ctx.ask("eve", Ask::confirm("Go?")))?;
    ///     Ok(ada && eve)
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::Error> {
    /// let client = Client::new(Server::new("base", "1.0.0").tools(tools![launch]))
    ///     .answer("ada", ConfirmForm { yes: true })
    ///     .answers("eve", [Answer::later(), Answer::accept(ConfirmForm { yes: true })]);
    /// let reply = client.call_tool("launch", json!({})).await?;
    /// assert_eq!(reply.text(), "true");
    /// assert_eq!(reply.asked, [vec!["ada", "eve"], vec!["eve"]], "what was answered is not asked again");
    /// # Ok(())
    /// # }
    /// ```
    pub fn later() -> Self {
        Self(None)
    }

    pub(super) fn into_value(self) -> Option<Value> {
        self.0
    }
}

/// The answers of a client, by the key of the question. A clone goes on from where it was made.
#[derive(Debug, Default)]
pub(super) struct Answers(Mutex<HashMap<String, Script>>);

#[derive(Debug, Clone)]
pub(super) enum Script {
    /// The same, however often it is asked.
    Always(Answer),
    /// One after the other, of so many in all.
    InTurn(VecDeque<Answer>, usize),
}

impl Answers {
    fn scripts(&self) -> MutexGuard<'_, HashMap<String, Script>> {
        // Every statement leaves it valid.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn insert(&self, key: &str, script: Script) {
        self.scripts().insert(key.to_owned(), script);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.scripts().is_empty()
    }

    /// The next answer under a key.
    ///
    /// # Errors
    ///
    /// What is wrong with the test, if there is none.
    pub(super) fn next(&self, key: &str) -> Result<Answer, String> {
        match self.scripts().get_mut(key) {
            None => Err(format!("it asks `{key}`, and the test has no answer to that")),
            Some(Script::Always(answer)) => Ok(answer.clone()),
            Some(Script::InTurn(left, all)) => {
                let used_up = || format!("it asks `{key}` once more than the test has answers to it ({all})");
                left.pop_front().ok_or_else(used_up)
            }
        }
    }
}

impl Clone for Answers {
    fn clone(&self) -> Self {
        Self(Mutex::new(self.scripts().clone()))
    }
}
