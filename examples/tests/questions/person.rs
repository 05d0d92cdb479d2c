//! Whoever sits at the Rust SDK's client: answers what is asked, and remembers it.

#![expect(deprecated, reason = "samples and roots are, and must work as long as they are there")]

use std::{error::Error, sync::Arc};

use rmcp::{
    ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData, RoleClient, ServiceExt,
    model::{
        CallToolRequestParams, ClientConfig, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
        ElicitResult, Implementation, ListRootsResult, ProtocolVersion,
    },
    service::{RequestContext, RunningService},
    transport::IntoTransport,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::calls::Era;

#[derive(Clone)]
pub(crate) struct Person {
    /// By the words that are asked.
    answers: Value,
    /// How many questions must be there before any is answered.
    together: usize,
    follows_tasks: bool,
    asked: Arc<watch::Sender<Vec<String>>>,
}

impl Person {
    pub(crate) fn new(answers: Value) -> Self {
        Self { answers, together: 1, follows_tasks: false, asked: Arc::default() }
    }

    /// Waits until so many questions are there before answering any.
    pub(crate) fn together(mut self, questions: usize) -> Self {
        self.together = questions;
        self
    }

    /// Declares that calls may become tasks.
    pub(crate) fn follows_tasks(mut self) -> Self {
        self.follows_tasks = true;
        self
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.borrow().clone()
    }

    pub(crate) async fn connect<T, E, A>(&self, era: Era, transport: T) -> RunningService<RoleClient, Self>
    where
        T: IntoTransport<RoleClient, E, A>,
        E: Error + Send + Sync + 'static,
    {
        let lifecycle = match era {
            Era::Session => return self.clone().serve(transport).await.expect("the client connects"),
            Era::Stateless => ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] },
        };
        self.clone().serve_with_lifecycle(transport, lifecycle).await.expect("the client connects")
    }

    async fn answer<T: DeserializeOwned>(&self, words: &Value) -> Result<T, ErrorData> {
        let words = words.as_str().expect("words").to_owned();
        let answer = self.answers.get(&words).cloned();
        self.asked.send_modify(|asked| asked.push(words.clone()));
        let mut asked = self.asked.subscribe();
        let _ = asked.wait_for(|asked| asked.len() >= self.together).await.expect("it is kept here");
        let answer = answer.and_then(|answer| serde_json::from_value(answer).ok());
        answer.ok_or_else(|| ErrorData::invalid_params(format!("no answer to: {words}"), None))
    }
}

impl ClientHandler for Person {
    fn get_info(&self) -> ClientConfig {
        let mut everything = json!({ "elicitation": { "form": {} }, "sampling": {}, "roots": {} });
        if self.follows_tasks {
            everything["extensions"] = json!({ rmcp::model::TASKS_EXTENSION_ID: {} });
        }
        let capabilities = serde_json::from_value(everything).expect("capabilities");
        ClientConfig::new(capabilities, Implementation::new("person", "1.0.0"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.answer(&wire(request)["message"]).await
    }

    async fn create_message(
        &self,
        request: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        self.answer(&wire(request)["messages"][0]["content"]["text"]).await
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        self.answer(&json!("roots/list")).await
    }
}

pub(crate) fn call(tool: &'static str, arguments: &Value) -> CallToolRequestParams {
    CallToolRequestParams::new(tool).with_arguments(arguments.as_object().expect("an object").clone())
}

/// What the client made of a message, as JSON.
pub(crate) fn wire(message: impl Serialize) -> Value {
    serde_json::to_value(message).expect("JSON")
}
