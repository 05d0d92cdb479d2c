//! What a test answers when the server asks.

use std::{collections::HashMap, sync::Mutex};

use serde_json::{Value, json};

use crate::{error::lock, form::Elicit};

/// An answer to a question; see [`Client::answers`](super::Client::answers).
///
/// ```
/// use rejoinder::{form::ConfirmForm, testing::ClientAnswer};
/// use serde_json::json;
///
/// let by_form = ClientAnswer::accept(ConfirmForm { yes: true });
/// let by_hand = ClientAnswer::with(json!({ "action": "accept", "content": { "yes": true } }));
/// assert_eq!(by_form, by_hand);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ClientAnswer(pub(super) Option<Value>);

impl ClientAnswer {
    /// The user accepts with this form.
    pub fn accept(form: impl Elicit) -> Self {
        Self::with(json!({ "action": "accept", "content": form.write() }))
    }

    /// The user declines.
    pub fn decline() -> Self {
        Self::with(json!({ "action": "decline" }))
    }

    /// The user cancels.
    pub fn cancel() -> Self {
        Self::with(json!({ "action": "cancel" }))
    }

    /// This JSON: for choices, samples, roots, and invalid answers.
    pub fn with(answer: Value) -> Self {
        Self(Some(answer))
    }

    /// No answer in this round, in which the other questions are answered.
    ///
    /// On a session each question waits for its answer, so there it is an error of the test.
    ///
    /// ```
    /// use rejoinder::{Ask, form::ConfirmForm, prelude::*, testing::{Client, ClientAnswer}};
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
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let client = Client::new(Server::new("base", "1.0.0").tools(tools![launch]))
    ///     .answer("ada", ConfirmForm { yes: true })
    ///     .answers("eve", [ClientAnswer::later(), ClientAnswer::accept(ConfirmForm { yes: true })]);
    /// let reply = client.call_tool("launch", json!({})).await?;
    /// assert_eq!(reply.text(), "true");
    /// assert_eq!(reply.asked, [vec!["ada", "eve"], vec!["eve"]], "an answered question is not asked again");
    /// # Ok(())
    /// # }
    /// ```
    pub fn later() -> Self {
        Self(None)
    }
}

/// The answers of a client, by the key of the question.
#[derive(Debug, Default)]
pub(super) struct Scripts(Mutex<HashMap<String, Script>>);

#[derive(Debug, Clone)]
pub(super) enum Script {
    /// The same answer every time.
    Always(ClientAnswer),
    /// One after the other; how many were sent.
    InTurn(Vec<ClientAnswer>, usize),
}

impl Scripts {
    pub(super) fn insert(&self, key: String, script: Script) {
        lock(&self.0).insert(key, script);
    }

    pub(super) fn is_empty(&self) -> bool {
        lock(&self.0).is_empty()
    }

    /// The next answer under a key.
    ///
    /// # Errors
    ///
    /// What the test lacks.
    pub(super) fn next(&self, key: &str) -> Result<ClientAnswer, String> {
        let mut scripts = lock(&self.0);
        match scripts.get_mut(key) {
            None => {
                let mut others: Vec<_> = scripts.keys().map(|key| format!("`{key}`")).collect();
                others.sort();
                let only = if others.is_empty() { String::new() } else { format!(", only to {}", others.join(", ")) };
                Err(format!("it asks `{key}`, and the test has no answer to it{only}"))
            }
            Some(Script::Always(answer)) => Ok(answer.clone()),
            Some(Script::InTurn(answers, sent)) => {
                *sent += 1;
                let used_up = || format!("it asks `{key}` more often than the test has answers ({})", answers.len());
                answers.get(*sent - 1).cloned().ok_or_else(used_up)
            }
        }
    }
}

impl Clone for Scripts {
    fn clone(&self) -> Self {
        Self(Mutex::new(lock(&self.0).clone()))
    }
}
