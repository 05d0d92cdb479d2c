//! Calls, round by round, until there is a result.

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::{
    Background, Client, ClientError, Response, Result,
    exchange::{ClientExchange, Incoming},
    kills::MortalKeeper,
};
use crate::{
    call::{CallTrace, FollowedCall, Traced},
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
        self.call_traced(tool, arguments, CallTrace::default()).await
    }

    /// [`Client::call_tool`], whose first rounds may be cut.
    pub(super) async fn call_traced(
        &self,
        tool: &str,
        arguments: Value,
        trace: CallTrace,
    ) -> Result<Response<CallToolResult>> {
        // The task may sleep before the reply is read.
        let _skipped = self.connection.tasks.as_ref().map(MortalKeeper::skip_sleeps);
        let rounds = self.rounds("tools/call", arguments_of(tool, arguments), trace).await?;
        if rounds.result["resultType"] == "task" {
            return self.follow_task(rounds).await;
        }
        self.response("tools/call", &rounds.result, &rounds, &rounds.trace)
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
        self.run("prompts/get", arguments_of(prompt, arguments)).await
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

    async fn run<R: DeserializeOwned>(&self, method: &str, params: Value) -> Result<Response<R>> {
        let rounds = self.rounds(method, params, CallTrace::default()).await?;
        self.response(method, &rounds.result, &rounds, &rounds.trace)
    }

    /// The response with which a call ends.
    pub(super) fn response<R: DeserializeOwned>(
        &self,
        method: &str,
        result: &Value,
        rounds: &CallRounds,
        trace: &CallTrace,
    ) -> Result<Response<R>> {
        let CallRounds { asked, ran, runs, notifications, .. } = rounds;
        let mut traced = trace.lock();
        self.check_path(method, &traced)?;
        let (ran, runs) = match traced.runs {
            0 => (ran.clone(), *runs),
            // Those of its task.
            more => (ran.iter().cloned().chain([names(&traced.ran)]).collect(), runs + more),
        };
        let (asked, background) = (asked.clone(), Background(std::mem::take(&mut traced.background)));
        Ok(Response { asked, ran, runs, background, ..Response::read(method, result, notifications)? })
    }

    /// An error if a run took another path than an earlier one.
    fn check_path(&self, method: &str, traced: &Traced) -> Result<()> {
        if !traced.unreached.is_empty() && !self.allows_other_paths {
            return Err(ClientError::other_path(method, &traced.unreached));
        }
        if traced.forgets_steps {
            return Err(ClientError::forgets_steps(method));
        }
        Ok(())
    }

    /// Sends a call, and sends it again with answers until there is a result.
    pub(super) async fn rounds(&self, method: &str, params: Value, trace: CallTrace) -> Result<CallRounds> {
        let (mut asked, mut ran, mut runs) = (Vec::new(), Vec::new(), 0);
        let mut next = params.clone();
        while ran.len() < MOST_ROUNDS {
            let round = async {
                let mut exchange = self.connection.open(method, next.clone(), trace.clone()).await?;
                let result = self.one_round(&mut exchange, method, &mut asked).await;
                Ok::<_, ClientError>((exchange, result))
            };
            let (mut exchange, result) = tokio::select! {
                round = round => round?,
                // The process has died: the client sends the round again.
                () = trace.cut() => continue,
            };
            let result = self.with_remedy(method, result, &trace)?;
            let is_over = result["resultType"] != "input_required";
            {
                let mut traced = trace.lock();
                ran.push(names(&std::mem::take(&mut traced.ran)));
                runs += std::mem::take(&mut traced.runs);
                self.check_path(method, &traced)?;
                if !is_over {
                    *traced = Traced { steps: std::mem::take(&mut traced.steps), ..Traced::default() };
                }
            }
            if is_over {
                let (notifications, _followed) =
                    (std::mem::take(&mut exchange.notifications), exchange.followed.take());
                return Ok(CallRounds { result, asked, ran, runs, trace, notifications, _followed });
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
    pub(super) fn answer_to(&self, method: &str, key: &str, question: &Value, asked: usize) -> Result<Option<Value>> {
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

/// The rounds of a call, which have ended with a result.
#[derive(Debug)]
pub(super) struct CallRounds {
    pub(super) result: Value,
    /// The keys that each round asked.
    pub(super) asked: Vec<Vec<String>>,
    ran: Vec<Vec<String>>,
    runs: usize,
    /// What happens in the call from then on: a task goes on.
    pub(super) trace: CallTrace,
    /// What came before the result.
    notifications: Vec<Value>,
    /// Follows the call while it is there.
    _followed: Option<FollowedCall>,
}

fn names(ran: &[Cow<'static, str>]) -> Vec<String> {
    ran.iter().map(|name| name.clone().into_owned()).collect()
}

/// The params of a call.
pub(super) fn arguments_of(name: &str, arguments: Value) -> Value {
    json!({ "name": name, "arguments": if arguments.is_null() { json!({}) } else { arguments } })
}
