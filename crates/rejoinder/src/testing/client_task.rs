//! Tasks as a client follows them: with messages only.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::sleep;

use super::{
    Client, ClientAnswer, ClientError, Response, Result, calls::CallRounds, exchange::error_in, kills::mortal_tasks,
    response::read,
};
use crate::{
    call::CallTrace,
    form::Elicit,
    model::{CallToolResult, Task, TaskStatus},
};

/// How often a task is looked at until what the test waits for has happened.
const MOST_LOOKS: usize = 12_000;

/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(5);

impl Client {
    /// Declares that the client follows tasks, so that calls of tools that are marked `#[tool(task)]` become tasks.
    ///
    /// [`call_tool`](Self::call_tool) then follows the task to its end and answers what it asks;
    /// [`start_task`](Self::start_task) returns the task.
    ///
    /// ```
    /// use rejoinder::{prelude::*, form::ConfirmForm, testing::Client};
    /// use serde_json::json;
    ///
    /// #[tool(task)]
    /// async fn publish(ctx: Context) -> Result<&'static str, CallError> {
    ///     Ok(if ctx.ask("sure", Ask::confirm("Publish?")).await? { "published" } else { "kept" })
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let client = Client::new(Server::new("press", "1.0.0").tools(tools![publish])).tasks();
    /// let reply = client.answer("sure", ConfirmForm { yes: true }).call_tool("publish", json!({})).await?;
    /// assert_eq!(reply.text(), "published");
    /// assert_eq!(reply.asked, [["sure"]]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn tasks(mut self) -> Self {
        let (tasks, keeper) = mortal_tasks();
        self.connection.tasks = Some(keeper);
        // Tasks that the author keeps elsewhere stay there.
        if self.connection.server.0.has_keeper() { self.reconnected() } else { self.on_copy(|_| {}, tasks) }
    }

    /// Calls a tool and returns the task as which the call goes on. What is asked before there is a task is answered.
    ///
    /// # Errors
    ///
    /// If the call does not become a task.
    ///
    /// ```
    /// use rejoinder::{prelude::*, form::ConfirmForm, model::TaskStatus, testing::Client};
    /// use serde_json::json;
    ///
    /// #[tool(task)]
    /// async fn publish(ctx: Context) -> Result<&'static str, CallError> {
    ///     Ok(if ctx.ask("sure", Ask::confirm("Publish?")).await? { "published" } else { "kept" })
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let client = Client::new(Server::new("press", "1.0.0").tools(tools![publish])).tasks();
    /// # let client = client.capabilities(serde_json::from_value(json!({ "elicitation": {} })).unwrap());
    /// let task = client.start_task("publish", json!({})).await?;
    /// task.until_asked("sure").await?;
    /// task.answer("sure", ConfirmForm { yes: true }).await?;
    /// assert_eq!(task.finish().await?.text(), "published");
    /// assert_eq!(task.show().await?.status, TaskStatus::Completed);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn start_task(&self, tool: &str, arguments: Value) -> Result<ClientTask> {
        let rounds =
            self.rounds("tools/call", super::calls::arguments_of(tool, arguments), CallTrace::default()).await?;
        if rounds.result["resultType"] != "task" {
            let reason = format!("the call did not become a task: {}", rounds.result);
            return Err(ClientError::unexpected("tools/call", reason));
        }
        ClientTask::new(self, rounds)
    }

    /// Follows a task to its end, and answers what it asks.
    pub(super) async fn follow_task(&self, rounds: CallRounds) -> Result<Response<CallToolResult>> {
        let mut task = ClientTask::new(self, rounds)?;
        let mut answered = Vec::new();
        for _ in 0..MOST_LOOKS {
            let shown = task.get().await?;
            let open = shown["inputRequests"].as_object().into_iter().flatten();
            let open: Vec<_> = open.filter(|(key, _)| !answered.contains(*key)).collect();
            let mut answers = Map::new();
            for (key, question) in &open {
                let answer = self.answer_to("tasks/get", name_of(key), question, task.rounds.asked.len())?;
                answers.extend(answer.map(|answer| ((*key).clone(), answer)));
            }
            if !open.is_empty() {
                task.rounds.asked.push(open.into_iter().map(|(key, _)| key.clone()).collect());
                answered.extend(answers.keys().cloned());
                task.update(answers).await?;
            } else if has_ended(&shown) {
                return task.end_of(&shown);
            }
            sleep(PAUSE).await;
        }
        Err(task.stuck("its end").await)
    }
}

/// The name of a question: its key without the number that it has when it is asked again.
fn name_of(key: &str) -> &str {
    match key.rsplit_once('~') {
        Some((name, number)) if number.parse::<u32>().is_ok() => name,
        _ => key,
    }
}

fn has_ended(shown: &Value) -> bool {
    serde_json::from_value(shown["status"].clone()).is_ok_and(TaskStatus::is_final)
}

/// A task that a client follows; dropping it does not cancel it. See [`Client::start_task`].
#[derive(Debug)]
pub struct ClientTask {
    client: Client,
    id: String,
    rounds: CallRounds,
}

impl ClientTask {
    fn new(client: &Client, rounds: CallRounds) -> Result<Self> {
        let Task { task_id, .. } = read("tools/call", &rounds.result)?;
        Ok(Self { client: client.clone(), id: task_id, rounds })
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The reply to the call that made it, as JSON.
    pub fn created(&self) -> &Value {
        &self.rounds.result
    }

    async fn request(&self, method: &str, mut params: Value) -> Result<Value> {
        params["taskId"] = json!(self.id);
        self.client.request(method, params).await
    }

    /// The task as it is now, as JSON: with its questions, its result or its error.
    ///
    /// # Errors
    ///
    /// If the server returns an error.
    pub async fn get(&self) -> Result<Value> {
        self.request("tasks/get", json!({})).await
    }

    /// The task as it is now.
    ///
    /// # Errors
    ///
    /// If the server returns an error.
    pub async fn show(&self) -> Result<Task> {
        read("tasks/get", &self.get().await?)
    }

    /// Waits until the task has ended or is as wanted, and returns it as JSON.
    ///
    /// # Errors
    ///
    /// If the server returns an error, or that does not happen within a minute.
    pub async fn until(&self, is_wanted: impl Fn(&Value) -> bool) -> Result<Value> {
        for _ in 0..MOST_LOOKS {
            let shown = self.get().await?;
            if is_wanted(&shown) || has_ended(&shown) {
                return Ok(shown);
            }
            sleep(PAUSE).await;
        }
        Err(self.stuck("what the test waits for").await)
    }

    /// Waits until the task asks that question.
    ///
    /// # Errors
    ///
    /// If the server returns an error, or the task ends before or does not ask within a minute.
    pub async fn until_asked(&self, key: &str) -> Result<Value> {
        let shown = self.until(|shown| shown["inputRequests"].get(key).is_some()).await?;
        match shown["inputRequests"].get(key) {
            Some(question) => Ok(question.clone()),
            None => {
                Err(ClientError::unexpected("tasks/get", format!("the task ended before it asked `{key}`: {shown}")))
            }
        }
    }

    /// Accepts the question of that key with this form.
    ///
    /// # Errors
    ///
    /// If the server returns an error.
    pub async fn answer(&self, key: &str, form: impl Elicit) -> Result<()> {
        self.answer_with(key, ClientAnswer::accept(form)).await
    }

    /// Sends an answer to the question of that key.
    ///
    /// # Errors
    ///
    /// If the server returns an error.
    pub async fn answer_with(&self, key: &str, answer: ClientAnswer) -> Result<()> {
        self.update(answer.0.map(|answer| (key.to_owned(), answer)).into_iter().collect()).await
    }

    async fn update(&self, answers: Map<String, Value>) -> Result<()> {
        self.request("tasks/update", json!({ "inputResponses": answers })).await.map(drop)
    }

    /// Cancels it.
    ///
    /// # Errors
    ///
    /// If the server returns an error.
    pub async fn cancel(&self) -> Result<()> {
        self.request("tasks/cancel", json!({})).await.map(drop)
    }

    /// Waits for its end, and returns the result of the call.
    ///
    /// # Errors
    ///
    /// If it fails, is cancelled, asks something, or does not end within a minute.
    pub async fn finish(&self) -> Result<Response<CallToolResult>> {
        let shown = self.until(|shown| shown["status"] == "input_required").await?;
        self.end_of(&shown)
    }

    /// The steps that its runs have recorded, in that order: also those of a process that died afterwards, and sleeps.
    pub fn steps(&self) -> Vec<String> {
        match self.client.connection.tasks.as_ref().filter(|_| !self.client.connection.server.0.has_keeper()) {
            Some(keeper) => keeper.steps(&self.id),
            // Its journal is out of reach.
            None => self.rounds.trace.of_task().lock().steps.clone(),
        }
    }

    /// How often its function has started to run.
    pub fn runs(&self) -> usize {
        self.rounds.trace.of_task().lock().runs
    }

    fn end_of(&self, shown: &Value) -> Result<Response<CallToolResult>> {
        let missed = self.client.connection.tasks.as_ref().and_then(|keeper| keeper.missed());
        if let Some(key) = missed.filter(|_| has_ended(shown)) {
            let reason = format!("no process has died at `{key}`, which was not kept: {shown}");
            return Err(ClientError::unexpected("tasks/get", reason));
        }
        if let Some(result) = shown.get("result") {
            return self.client.response("tools/call", result, &self.rounds, &self.rounds.trace.of_task());
        }
        if let Some(key) = shown["inputRequests"].as_object().and_then(|open| open.keys().next()) {
            let reason =
                format!("it asks `{key}`: answer it with `ClientTask::answer`, or use `Client::call_tool`: {shown}");
            return Err(ClientError::unexpected("tasks/get", reason));
        }
        Err(match shown.get("error") {
            Some(_) => error_in(shown.clone(), "tasks/get", http::StatusCode::OK),
            None => ClientError::unexpected("tasks/get", format!("the task has no result: {shown}")),
        })
    }

    async fn stuck(&self, wanted: &str) -> ClientError {
        let shown = self.get().await.unwrap_or_default();
        ClientError::unexpected("tasks/get", format!("the task does not come to {wanted}: {shown}"))
    }
}
