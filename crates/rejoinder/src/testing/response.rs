use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use futures_util::future::join_all;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use super::{ClientError, Result};
use crate::{
    call::{BackgroundState, BackgroundStatus},
    model::{CallToolResult, ContentBlock, GetPromptResult, ReadResourceResult, ResourceContents, ResourceData},
    request::Level,
};

/// The result of a call, and what happened on the way.
///
/// ```
/// use rejoinder::{call::Level, prelude::*, testing::Client};
/// use serde_json::json;
///
/// /// Waters the flowers.
/// #[tool]
/// async fn water(ctx: Context) -> &'static str {
///     ctx.progress(1.0).total(2.0).message("roses").await;
///     ctx.progress(2.0).total(2.0).message("tulips").await;
///     ctx.info("the can is empty").await;
///     "done"
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
/// let client = Client::new(Server::new("garden", "1.0.0").tools(tools![water])).log_level(Level::Info);
/// let reply = client.call_tool("water", json!({})).await?;
/// assert_eq!(reply.text(), "done");
/// assert_eq!(reply.progress[1].message.as_deref(), Some("tulips"));
/// assert_eq!(reply.logs[0].data, "the can is empty");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Response<R = CallToolResult> {
    /// The result.
    pub result: R,
    /// The progress that was reported, oldest first.
    pub progress: Vec<ProgressReport>,
    /// The log messages, oldest first.
    pub logs: Vec<Log>,
    /// The keys of the questions, round by round. On a session each question is a round.
    pub asked: Vec<Vec<String>>,
    /// The names of the resolvers that ran, round by round, in the order in which they began. On a session a call is
    /// one round.
    pub ran: Vec<Vec<String>>,
    /// How often the body of the function started. A stateless client makes it start again with each answer that it asks
    /// for itself, with [`Context::ask`](crate::Context::ask).
    pub runs: usize,
    /// The [background tasks](crate::BackgroundTasks) of the call. They start when the client has the reply.
    pub background: Background,
}

/// The background tasks of a call, in the order in which they were added.
///
/// ```
/// use rejoinder::{call::BackgroundStatus, prelude::*, testing::Client};
/// use serde_json::json;
///
/// #[tool]
/// async fn archive(background: BackgroundTasks) -> Result<&'static str, CallError> {
///     background.add(async { Err(CallError::new("the disk is full")) as Result<(), _> })?;
///     background.add(async {})?;
///     Ok("queued")
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
/// let client = Client::new(Server::new("files", "1.0.0").tools(tools![archive]));
/// let reply = client.call_tool("archive", json!({})).await?;
/// assert_eq!(reply.background.statuses(), [BackgroundStatus::Waiting, BackgroundStatus::Waiting]);
/// assert_eq!(reply.background.finished().await, [BackgroundStatus::Failed, BackgroundStatus::Succeeded]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Background(pub(super) Vec<Arc<BackgroundState>>);

impl Background {
    /// How far each task is now.
    pub fn statuses(&self) -> Vec<BackgroundStatus> {
        self.0.iter().map(|task| task.status()).collect()
    }

    /// Waits until all tasks are over, and returns how each ended.
    pub async fn finished(&self) -> Vec<BackgroundStatus> {
        join_all(self.0.iter().map(|task| task.over())).await
    }
}

/// The same tasks.
impl PartialEq for Background {
    fn eq(&self, other: &Self) -> bool {
        self.0.iter().map(|task| task.id).eq(other.0.iter().map(|task| task.id))
    }
}

/// One progress report.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ProgressReport {
    /// How much is done.
    pub progress: f64,
    /// How much there is to do, if that was reported.
    pub total: Option<f64>,
    /// A message for the user.
    pub message: Option<String>,
}

/// One log message.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Log {
    /// The severity.
    pub level: Level,
    /// The name of the logger.
    pub logger: Option<String>,
    /// What was logged.
    pub data: Value,
}

impl<R: DeserializeOwned> Response<R> {
    /// Reads a result, and the notifications before it.
    pub(super) fn read(method: &str, result: &Value, notifications: &[Value]) -> Result<Self> {
        let (progress, logs, asked, ran, runs, background) = Default::default();
        let mut response = Self { result: read(method, result)?, progress, logs, asked, ran, runs, background };
        for message in notifications {
            let params = &message["params"];
            match message["method"].as_str() {
                Some("notifications/progress") => response.progress.push(read(method, params)?),
                Some("notifications/message") => response.logs.push(read(method, params)?),
                _ => {}
            }
        }
        Ok(response)
    }
}

pub(super) fn read<T: DeserializeOwned>(method: &str, value: &Value) -> Result<T> {
    T::deserialize(value).map_err(|error| ClientError::unexpected(method, format_args!("{error}: {value}")))
}

impl Response<CallToolResult> {
    /// The text blocks, one per line.
    pub fn text(&self) -> String {
        texts(&self.result.content)
    }

    /// Whether the tool failed.
    pub fn is_error(&self) -> bool {
        self.result.is_error == Some(true)
    }

    /// The structured content: what the tool returned in [`Json`](crate::Json), which sends a value that is not an object as
    /// `{"result": ..}`.
    ///
    /// # Errors
    ///
    /// If there is none, or it is not a `T`.
    ///
    /// ```
    /// # use rejoinder::{prelude::*, testing::Client};
    /// # use serde_json::json;
    /// #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
    /// struct Sum { total: i64 }
    ///
    /// #[tool]
    /// async fn add(a: i64, b: i64) -> Json<Sum> { Json(Sum { total: a + b }) }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let client = Client::new(Server::new("calculator", "1.0.0").tools(tools![add]));
    /// let sum: Sum = client.call_tool("add", json!({ "a": 1, "b": 2 })).await?.structured()?;
    /// assert_eq!(sum.total, 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn structured<T: DeserializeOwned>(&self) -> Result<T> {
        let Some(content) = &self.result.structured_content else {
            return Err(ClientError::no_structured_content(self.is_error(), &self.text()));
        };
        let wrapped =
            content.as_object().filter(|content| content.len() == 1).and_then(|content| content.get("result"));
        match (read("tools/call", content), wrapped) {
            (Err(_), Some(value)) => read("tools/call", value),
            (content, _) => content,
        }
    }
}

impl Response<GetPromptResult> {
    /// The texts of the messages, one per line.
    pub fn text(&self) -> String {
        texts(self.result.messages.iter().map(|message| &message.content))
    }
}

impl Response<ReadResourceResult> {
    /// All texts, joined.
    pub fn text(&self) -> String {
        self.result.contents.iter().filter_map(ResourceContents::as_text).collect()
    }

    /// All contents as bytes, joined: decoded blobs, and texts as they are.
    pub fn bytes(&self) -> Vec<u8> {
        let bytes = self.result.contents.iter().flat_map(|contents| match &contents.data {
            ResourceData::Blob(blob) => STANDARD.decode(blob).unwrap_or_default(),
            ResourceData::Text(text) => text.clone().into_bytes(),
            _ => Vec::new(),
        });
        bytes.collect()
    }
}

fn texts<'a>(blocks: impl IntoIterator<Item = &'a ContentBlock>) -> String {
    let texts = blocks.into_iter().filter_map(|block| block.as_text()).map(|text| text.text.as_str());
    texts.collect::<Vec<_>>().join("\n")
}
