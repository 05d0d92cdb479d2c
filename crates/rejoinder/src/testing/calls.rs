//! Calls, round by round, until there is a result.

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::{
    Background, Client, ClientError, Response, Result,
    exchange::{ClientExchange, Incoming},
};
use crate::{
    call::CallTrace,
    model::{CallToolResult, GetPromptResult, ReadResourceResult, error_code},
};

/// A server that asks more often never stops asking.
const MOST_QUESTIONS: usize = 256;
/// A server that takes more rounds never ends.
const MOST_ROUNDS: usize = 10_000;

impl Client {
    /// Calls a tool and requests progress.
    ///
    /// # Errors
    ///
    /// If the server returns an error. A tool that fails is a response with [`is_error`](Response::is_error).
    ///
    /// ```
    /// # use rejoinder::{prelude::*, testing::Client};
    /// # use serde_json::json;
    /// #[tool]
    /// async fn half(number: i64) -> Result<i64, CallError> {
    ///     if number % 2 == 0 { Ok(number / 2) } else { Err(CallError::new("give an even number")) }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let client = Client::new(Server::new("calculator", "1.0.0").tools(tools![half]));
    /// assert_eq!(client.call_tool("half", json!({ "number": 4 })).await?.text(), "2");
    /// let reply = client.call_tool("half", json!({ "number": 5 })).await?;
    /// assert!(reply.is_error());
    /// assert_eq!(reply.text(), "give an even number");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn call_tool(&self, tool: &str, arguments: Value) -> Result<Response<CallToolResult>> {
        self.run("tools/call", json!({ "name": tool, "arguments": or_empty(arguments) })).await
    }

    /// Gets a prompt.
    ///
    /// # Errors
    ///
    /// If the server returns an error, or the prompt fails.
    ///
    /// ```
    /// # use rejoinder::{prelude::*, testing::Client};
    /// # use serde_json::json;
    /// #[prompt]
    /// async fn review(code: String) -> String { format!("Review this: {code}") }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let client = Client::new(Server::new("reviews", "1.0.0").prompts(prompts![review]));
    /// assert_eq!(client.get_prompt("review", json!({ "code": "1 + 1" })).await?.text(), "Review this: 1 + 1");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn get_prompt(&self, prompt: &str, arguments: Value) -> Result<Response<GetPromptResult>> {
        self.run("prompts/get", json!({ "name": prompt, "arguments": or_empty(arguments) })).await
    }

    /// Reads a resource.
    ///
    /// # Errors
    ///
    /// If the server returns an error, or the resource fails.
    ///
    /// ```
    /// # use rejoinder::{prelude::*, testing::Client};
    /// #[resource("note://{name}")]
    /// async fn note(name: String) -> String { format!("all about {name}") }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let client = Client::new(Server::new("notes", "1.0.0").resources(resources![note]));
    /// assert_eq!(client.read_resource("note://rust").await?.text(), "all about rust");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn read_resource(&self, uri: &str) -> Result<Response<ReadResourceResult>> {
        self.run("resources/read", json!({ "uri": uri })).await
    }

    /// Sends any request and returns its result as JSON.
    ///
    /// The client adds the `_meta` and headers of its era; an entry of `params._meta` replaces the client's own, and
    /// `null` removes it. Questions are not answered: `input_required` is returned like any result, and a question on a
    /// session is an error.
    ///
    /// # Errors
    ///
    /// If the server returns an error, or asks something on a session.
    ///
    /// ```
    /// # use rejoinder::{prelude::*, testing::Client};
    /// # use serde_json::json;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let client = Client::new(Server::new("empty", "1.0.0"));
    /// let error = client.request("no/such/method", json!({})).await.unwrap_err();
    /// assert_eq!(error.code(), Some(-32601));
    /// # }
    /// ```
    pub async fn request(&self, method: &str, params: Value) -> Result<Value> {
        self.connection.open(method, params, CallTrace::default()).await?.finish().await
    }

    /// Sends a call, and sends it again with answers until there is a result.
    async fn run<R: DeserializeOwned>(&self, method: &str, params: Value) -> Result<Response<R>> {
        let (mut asked, mut ran, mut runs) = (Vec::new(), Vec::new(), 0);
        let mut next = params.clone();
        while ran.len() < MOST_ROUNDS {
            let trace = CallTrace::default();
            let mut exchange = self.connection.open(method, next, trace.clone()).await?;
            let result = self.one_round(&mut exchange, method, &mut asked).await;
            let result = self.with_remedy(method, result, &trace)?;
            let traced = std::mem::take(&mut *trace.lock());
            ran.push(traced.ran.into_iter().map(Cow::into_owned).collect());
            runs += traced.runs;
            if !traced.unreached.is_empty() && !self.allows_other_paths {
                return Err(ClientError::other_path(method, &traced.unreached));
            }
            if traced.forgets_steps {
                return Err(ClientError::forgets_steps(method));
            }
            if result["resultType"] != "input_required" {
                let (background, sent) = (Background(traced.background), &exchange.notifications);
                return Ok(Response { asked, ran, runs, background, ..Response::read(method, &result, sent)? });
            }
            let questions = result["inputRequests"].as_object().cloned().unwrap_or_default();
            let mut answers = Map::new();
            for (key, question) in &questions {
                let answer = self.answer_to(method, key, question, asked.len())?;
                answers.extend(answer.map(|answer| (key.clone(), answer)));
            }
            if !questions.is_empty() {
                asked.push(questions.keys().cloned().collect());
            }
            next = params.clone();
            next["inputResponses"] = Value::Object(answers);
            next["requestState"] = result["requestState"].clone();
        }
        Err(ClientError::unexpected(method, format_args!("no result after {MOST_ROUNDS} rounds: {next}")))
    }

    /// Reads until there is a result, and answers what a session asks.
    async fn one_round(
        &self,
        exchange: &mut ClientExchange,
        method: &str,
        asked: &mut Vec<Vec<String>>,
    ) -> Result<Value> {
        loop {
            let question = match exchange.receive().await? {
                Incoming::Result(result) => return Ok(result),
                Incoming::Question(question) => question,
            };
            let key = question["params"]["_meta"]["rejoinder/key"].as_str().unwrap_or_default().to_owned();
            let Some(result) = self.answer_to(method, &key, &question, asked.len())? else {
                let reason = "on a session, where `ClientAnswer::later` is not possible";
                return Err(ClientError::unexpected(method, format_args!("it asks `{key}` {reason}: {question}")));
            };
            asked.push(vec![key]);
            self.connection.respond(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": result })).await?;
        }
    }

    /// The answer to a question; `None` if it is to be left open.
    fn answer_to(&self, method: &str, key: &str, question: &Value, asked: usize) -> Result<Option<Value>> {
        let answer = match asked {
            MOST_QUESTIONS.. => Err(format!("no result after {asked} questions")),
            _ => self.scripts.next(key),
        };
        match answer {
            Ok(answer) => Ok(answer.0),
            Err(reason) => Err(ClientError::unexpected(method, format_args!("{reason}: {question}"))),
        }
    }

    /// A client without answers declares no capabilities, so what the test lacks is an answer. Stateless it gets an error, on
    /// a session a tool's result with `isError`.
    fn with_remedy(&self, method: &str, result: Result<Value>, trace: &CallTrace) -> Result<Value> {
        let has_answers = !self.scripts.is_empty() || self.connection.capabilities != Default::default();
        let Some(remedy) = trace.lock().unanswered.first().filter(|_| !has_answers).cloned() else { return result };
        Err(match result {
            Err(ClientError::Rpc(mut rpc)) if rpc.code == error_code::MISSING_CAPABILITY => {
                rpc.remedy = Some(remedy);
                ClientError::Rpc(rpc)
            }
            Ok(result) if result["isError"] == true => {
                ClientError::unexpected(method, format_args!("the test has no answer: add `{remedy}`: {result}"))
            }
            result => return result,
        })
    }
}

fn or_empty(arguments: Value) -> Value {
    if arguments.is_null() { json!({}) } else { arguments }
}
