//! What the client answers when it is asked.

use std::{borrow::Cow, collections::VecDeque};

use crate::{form::Elicit, graph::Ran};
use serde_json::{Map, Value, json};

use super::{
    Answer, Client, Error, Result,
    answer::Script,
    exchange::{Exchange, Outcome, Turn},
    remedy::remedy,
};
use crate::protocol::RpcError;

/// What happened on the way to a reply, round by round.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    /// The keys of what was asked.
    pub(super) asked: Vec<Vec<String>>,
    /// The resolvers that ran.
    pub(super) ran: Vec<Vec<String>>,
}

/// A server that asks in more rounds than this asks for ever.
const MOST_QUESTIONS: usize = 16;
/// On a session questions come one by one, several of them where there would be one round.
const MOST_ON_A_SESSION: usize = 16 * MOST_QUESTIONS;
/// And one that takes more rounds without a question never comes to an end.
const MOST_ROUNDS: usize = 10_000;

impl Client {
    /// Fills in a form whenever it is asked under that key, and declares that it can be asked.
    ///
    /// ```
    /// use rejoinder::{Ask, prelude::*, testing::Client};
    /// use serde_json::json;
    ///
    /// #[derive(Elicit)]
    /// struct Name { name: String }
    ///
    /// #[tool]
    /// async fn greet(ctx: Context) -> Result<String, CallError> {
    ///     let Name { name } = ctx.ask("who", Ask::user("Who are you?")).await?;
    ///     Ok(format!("Hello, {name}!"))
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::Error> {
    /// let client = Client::new(Server::new("greeter", "1.0.0").tools(tools![greet]));
    /// let reply = client.answer("who", Name { name: "Ada".into() }).call_tool("greet", json!({})).await?;
    /// assert_eq!(reply.text(), "Hello, Ada!");
    /// assert_eq!(reply.asked, [["who"]]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn answer(self, key: &str, form: impl Elicit) -> Self {
        self.scripted(key, Script::Always(Answer::accept(form)))
    }

    /// Declines whenever it is asked under that key.
    #[must_use]
    pub fn decline(self, key: &str) -> Self {
        self.scripted(key, Script::Always(Answer::decline()))
    }

    /// Goes away without an answer whenever it is asked under that key.
    #[must_use]
    pub fn cancel(self, key: &str) -> Self {
        self.scripted(key, Script::Always(Answer::cancel()))
    }

    /// Answers with this, as it stands: for choices, samples, roots, and answers that no client should give.
    #[must_use]
    pub fn answer_with(self, key: &str, answer: Value) -> Self {
        self.scripted(key, Script::Always(Answer::with(answer)))
    }

    /// Gives these answers under that key, each once and in turn, in one call or in several.
    ///
    /// When it is asked once more than there are answers, the call is an error. A clone goes on from where it was made,
    /// by itself.
    ///
    /// ```
    /// use rejoinder::{Ask, prelude::*, testing::{Answer, Client}};
    /// use serde_json::json;
    ///
    /// #[derive(Elicit)]
    /// struct Age { #[elicit(max = 150)] years: u16 }
    ///
    /// #[tool]
    /// async fn age(ctx: Context) -> Result<u16, CallError> {
    ///     let Age { years } = ctx.ask("age", Ask::user("How old are you?")).await?;
    ///     Ok(years)
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::Error> {
    /// let client = Client::new(Server::new("census", "1.0.0").tools(tools![age]))
    ///     .answers("age", [360, 36].map(|years| Answer::accept(Age { years })));
    /// let reply = client.call_tool("age", json!({})).await?;
    /// assert_eq!(reply.text(), "36");
    /// assert_eq!(reply.asked, [["age"], ["age"]], "an answer that does not fit is asked for again");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn answers(self, key: &str, answers: impl IntoIterator<Item = Answer>) -> Self {
        let answers: VecDeque<_> = answers.into_iter().collect();
        let all = answers.len();
        self.scripted(key, Script::InTurn(answers, all))
    }

    fn scripted(mut self, key: &str, script: Script) -> Self {
        self.answers.insert(key, script);
        let sampling = json!({ "tools": {}, "context": {} });
        let everything = json!({ "elicitation": { "form": {}, "url": {} }, "sampling": sampling, "roots": {} });
        if self.capabilities == Default::default()
            && let Ok(capabilities) = serde_json::from_value(everything)
        {
            self.capabilities = capabilities;
        }
        self.anew()
    }

    /// What is to be answered now; nothing to what is left for later.
    fn answer_to(&self, method: &str, key: &str, question: &Value) -> Result<Option<Value>> {
        let answer = self.answers.next(key).map_err(|reason| Error::unexpected(method, reason, question))?;
        Ok(answer.into_value())
    }

    /// A client without answers declares that it cannot be asked, so what it lacks is an answer.
    fn hinted(&self, mut error: Error, ran: &Ran) -> Error {
        if let Error::Rpc(rpc) = &mut error
            && rpc.code == RpcError::MISSING_CAPABILITY
            && self.answers.is_empty()
            && self.capabilities == Default::default()
        {
            let unasked = ran.unasked().into_iter().next();
            rpc.remedy = unasked.as_ref().map(remedy);
            rpc.unanswered = unasked.map(|unasked| unasked.key);
        }
        error
    }

    /// A call from its first request to its last reply, with answers to what is asked on the way.
    pub(super) async fn through(&self, method: &str, params: Value) -> Result<(Outcome, Rounds)> {
        let mut rounds = Rounds::default();
        let mut next = params.clone();
        let mut asking = 0;
        while asking <= MOST_QUESTIONS && rounds.ran.len() < MOST_ROUNDS {
            let ran = Ran::default();
            let mut exchange = self.open_with(method, next, ran.clone()).await?;
            let outcome = self.finish(&mut exchange, method, &mut rounds.asked).await;
            let outcome = outcome.map_err(|error| self.hinted(error, &ran))?;
            rounds.ran.push(ran.take().into_iter().map(Cow::into_owned).collect());
            if outcome.result["resultType"] != "input_required" {
                return Ok((outcome, rounds));
            }
            let questions = outcome.result["inputRequests"].as_object().cloned().unwrap_or_default();
            if !questions.is_empty() {
                asking += 1;
                rounds.asked.push(questions.keys().cloned().collect());
            }
            let mut answers = Map::new();
            for (key, question) in &questions {
                answers.extend(self.answer_to(method, key, question)?.map(|answer| (key.clone(), answer)));
            }
            next = params.clone();
            next["inputResponses"] = Value::Object(answers);
            next["requestState"] = outcome.result["requestState"].clone();
        }
        let rounds = rounds.ran.len();
        let reason = format!("there is no result after {rounds} rounds, {asking} of which asked something");
        Err(Error::unexpected(method, reason, &next))
    }

    /// Reads on until the reply has come, and answers what a session asks before it.
    async fn finish(&self, exchange: &mut Exchange, method: &str, asked: &mut Vec<Vec<String>>) -> Result<Outcome> {
        let mut notifications = Vec::new();
        loop {
            match exchange.turn(&mut notifications).await? {
                Turn::Over(result) => return Ok(Outcome { result, notifications }),
                Turn::Asked(question) if asked.len() == MOST_ON_A_SESSION => {
                    let reason = format!("there is no result after {} questions", asked.len());
                    return Err(Error::unexpected(method, reason, &question));
                }
                Turn::Asked(question) => {
                    let key = question["params"]["_meta"]["rejoinder/key"].as_str().unwrap_or_default().to_owned();
                    let Some(result) = self.answer_to(method, &key, &question)? else {
                        let reason = format!("it asks `{key}` over a session, where no question can be left for later");
                        return Err(Error::unexpected(method, reason, &question));
                    };
                    asked.push(vec![key]);
                    self.respond(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": result })).await?;
                }
            }
        }
    }
}
