use std::{
    borrow::Cow,
    fmt::{self, Display},
    marker::PhantomData,
    pin::Pin,
    task::{Context, Poll},
};

use crate::model::{CallToolResult, ContentBlock};
use futures_util::{Stream, StreamExt, TryStreamExt};

use super::{
    FunctionOutput, IntoCallError, IntoToolResult, Json, OutputSchema, OutputStream, Structured, Text,
    finite::to_finite_value,
};
use crate::{
    auth::{Budget, Held},
    call::{Call, Halt},
    error::CallError,
};

/// What a tool returns that has something to show while it works: each item is sent as a progress notification, at once.
///
/// The result is the texts joined, or else the last item; [`fold`](Self::fold) makes another one. Joined texts end at 4 MiB, or
/// where the server has [no room](crate::server::Limits::memory) for more; then a second text says that they were cut.
///
/// ```
/// use futures_util::{StreamExt, stream};
/// use rejoinder::{prelude::*, testing::Client};
/// use serde_json::json;
///
/// /// Recite the beginning of a poem.
/// #[tool]
/// async fn recite(words: usize) -> ToolStream<String> {
///     let poem = ["Shall ", "I ", "compare ", "thee"];
///     ToolStream::new(stream::iter(poem.map(String::from)).take(words))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
/// let client = Client::new(Server::new("poems", "1.0.0").tools(tools![recite]));
/// let reply = client.call_tool("recite", json!({ "words": 3 })).await?;
/// assert_eq!(reply.text(), "Shall I compare ");
/// let second = &reply.progress[1];
/// assert_eq!((second.progress, second.total, second.message.as_deref()), (2.0, Some(3.0), Some("I ")));
/// # Ok(())
/// # }
/// ```
///
/// An item is text, a number, a `bool`, or [`Json<T>`](Json); its message is the text itself, or compact JSON. Progress counts
/// the items from 1; the total is sent if the stream knows its length or [`total`](Self::total) gives it. A client that did
/// not ask for progress gets the result only.
///
/// The stream runs as part of the call: a client that reads slowly slows it down, and cancellation and teardown
/// ([`Scope`](crate::Scope)) cover it. Progress only rises, so do not report progress of your own beside it.
#[must_use = "a stream does nothing until it is returned"]
pub struct ToolStream<T, R = T> {
    items: Pin<Box<dyn Stream<Item = Result<T, CallError>> + Send>>,
    total: Option<u64>,
    fold: Fold<T>,
    returned: PhantomData<fn() -> R>,
}

impl<T: StreamItem> ToolStream<T> {
    /// A stream of these items.
    pub fn new<S>(items: S) -> Self
    where
        S: StreamOf<T> + Send + 'static,
    {
        Self::of(items.map(Ok))
    }

    /// A stream of these items; an error ends it, and is what the client gets after the items before it.
    ///
    /// ```
    /// use futures_util::stream;
    /// use rejoinder::{prelude::*, testing::Client};
    /// use serde_json::json;
    ///
    /// #[tool]
    /// async fn count() -> ToolStream<u32> {
    ///     ToolStream::try_new(stream::iter([Ok(1), Ok(2), Err(CallError::new("3 is missing"))]))
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let reply = Client::new(Server::new("counter", "1.0.0").tools(tools![count])).call_tool("count", json!({})).await?;
    /// assert_eq!((reply.progress.len(), reply.is_error(), reply.text().as_str()), (2, true, "3 is missing"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn try_new<S, E>(items: S) -> Self
    where
        S: StreamOf<Result<T, E>> + Send + 'static,
        E: IntoCallError + 'static,
    {
        Self::of(items.map_err(IntoCallError::into_call_error))
    }

    fn of(items: impl Stream<Item = Result<T, CallError>> + Send + 'static) -> Self {
        let total = match items.size_hint() {
            (least, Some(most)) if least == most => Some(least as u64),
            _ => None,
        };
        let fold = if T::IS_TEXT {
            folding(JoinedTexts::default(), |texts, _, message, call| texts.join(message, call))
        } else {
            let nothing = CallError::new("the stream ended without an item, so there is no result");
            folding(Err(nothing), |_, item, _, _| Ok(item))
        };
        Self { items: Box::pin(items), total, fold, returned: PhantomData }
    }

    /// Makes the result from all items: begins with `first`, and adds each item.
    ///
    /// ```
    /// use futures_util::stream;
    /// use rejoinder::{prelude::*, testing::Client};
    /// use serde_json::json;
    ///
    /// #[tool]
    /// async fn copy() -> ToolStream<&'static str, Json<usize>> {
    ///     ToolStream::new(stream::iter(["a.txt", "b.txt"])).fold(Json(0), |Json(copied), _file| Json(copied + 1))
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let reply = Client::new(Server::new("files", "1.0.0").tools(tools![copy])).call_tool("copy", json!({})).await?;
    /// assert_eq!(reply.progress[0].message.as_deref(), Some("a.txt"));
    /// assert_eq!(reply.structured::<usize>()?, 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn fold<R, F>(self, first: R, mut add: F) -> ToolStream<T, R>
    where
        R: IntoToolResult + Send + 'static,
        F: FnMut(R, T) -> R + Send + 'static,
    {
        let fold = folding(first, move |so_far, item, _, _| add(so_far, item));
        ToolStream { items: self.items, total: self.total, fold, returned: PhantomData }
    }
}

impl<T, R> ToolStream<T, R> {
    /// How many items there will be, for clients that show it.
    pub fn total(mut self, items: impl TryInto<u64>) -> Self {
        self.total = items.try_into().ok();
        self
    }
}

impl<T: StreamItem, R: IntoToolResult> ToolStream<T, R> {
    /// Sends each item, and makes the result.
    async fn run(mut self, call: Call) -> Result<FunctionOutput, Halt> {
        let has_listener = call.reports_progress();
        let (mut sent, total) = (0.0, self.total.map(|total| total as f64));
        while let Some(item) = self.items.next().await {
            let item = item?;
            let message = if has_listener || T::IS_TEXT { item.message()? } else { String::new() };
            (self.fold)(Some((item, &message, &call)));
            sent += 1.0;
            if has_listener {
                call.report(sent, total, Some(message)).await;
            } else if sent % 64.0 == 0.0 {
                // Nothing slows such a stream down, so it lets others run. (`consume_budget` would leave no budget to what
                // watches the connection in the same future.)
                tokio::task::yield_now().await;
            }
        }
        (self.fold)(None).expect("the result is there between two items")
    }
}

impl<T: StreamItem, R: IntoToolResult + 'static> IntoToolResult for ToolStream<T, R> {
    fn into_tool_result(self) -> Result<CallToolResult, CallError> {
        Err(CallError::internal("a `ToolStream` runs in a call: return it from a tool"))
    }

    fn into_output(self) -> Result<FunctionOutput, Halt> {
        Ok(FunctionOutput::Stream(OutputStream(Box::new(|call| Box::pin(self.run(call))))))
    }

    fn output_schema() -> Option<OutputSchema> {
        R::output_schema()
    }

    const BY_HAND: bool = R::BY_HAND;
}

/// The items, for a unit test that calls the function.
impl<T, R> Stream for ToolStream<T, R> {
    type Item = Result<T, CallError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().items.as_mut().poll_next(cx)
    }
}

impl<T, R> fmt::Debug for ToolStream<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolStream").field("total", &self.total).finish_non_exhaustive()
    }
}

/// Adds an item and its message to the result of a stream. Without an item it returns the result.
type Fold<T> = Box<dyn FnMut(Option<(T, &str, &Call)>) -> Option<Result<FunctionOutput, Halt>> + Send>;

fn folding<T, R: IntoToolResult + Send + 'static>(
    first: R,
    mut add: impl FnMut(R, T, &str, &Call) -> R + Send + 'static,
) -> Fold<T> {
    let mut so_far = Some(first);
    Box::new(move |item| match (so_far.take()?, item) {
        (result, None) => Some(result.into_output()),
        (result, Some((item, message, call))) => {
            so_far = Some(add(result, item, message, call));
            None
        }
    })
}

/// The most bytes of joined texts.
const LONGEST_JOINED: usize = 4 * 1024 * 1024;

/// The texts of a stream, joined.
#[derive(Default)]
struct JoinedTexts {
    text: String,
    /// The room that they take.
    held: Option<Held>,
    is_cut: bool,
}

impl JoinedTexts {
    /// Adds a text, unless there is no room for it.
    fn join(mut self, more: &str, call: &Call) -> Self {
        let budget = || call.dependency::<Budget>().map(|budget| budget.hold(call.request().principal.as_ref()));
        self.held = self.held.or_else(budget);
        self.is_cut = self.is_cut
            || self.text.len() + more.len() > LONGEST_JOINED
            || self.held.as_mut().is_some_and(|held| held.grow(more.len()).is_err());
        if !self.is_cut {
            self.text += more;
        }
        self
    }
}

impl IntoToolResult for JoinedTexts {
    fn into_tool_result(self) -> Result<CallToolResult, CallError> {
        let mut result = self.text.into_tool_result()?;
        if self.is_cut {
            let note = "The text before this is cut: the texts of the stream are too long to join.";
            result.content.push(ContentBlock::text(note));
        }
        Ok(result)
    }
}

/// A stream of such items.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a `Stream` of `{T}`",
    label = "make one of a list with `futures_util::stream::iter(..)`, and of other items with `.map(..)`",
    note = "`ToolStream::new` takes a stream of items, and `ToolStream::try_new` one of `Result`s",
    note = "the receiver of a channel is one in a wrapper, such as `tokio_stream::wrappers::ReceiverStream`"
)]
pub trait StreamOf<T>: Stream<Item = T> {}

#[diagnostic::do_not_recommend]
impl<T, S: Stream<Item = T>> StreamOf<T> for S {}

/// What the items of a [`ToolStream`] may be: text, numbers, `bool`, [`Json`], [`Text`], and your own types.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an item of a `ToolStream`",
    label = "not an item of a stream; for a stream of `Result`s use `ToolStream::try_new`",
    note = "items are text, numbers, `bool`, `Json<T>`, or `Text<T: Display>`",
    note = "a type of your own can be one if it implements `StreamItem` and `IntoToolResult`"
)]
pub trait StreamItem: IntoToolResult + Send + 'static {
    /// The message of its notification.
    ///
    /// # Errors
    ///
    /// If it cannot be written as JSON, for example. This ends the stream.
    fn message(&self) -> Result<String, CallError>;

    /// Whether the result is the messages of all items, joined. Otherwise it is the last item.
    const IS_TEXT: bool = false;
}

impl<T: Structured + Send + 'static> StreamItem for Json<T> {
    fn message(&self) -> Result<String, CallError> {
        Ok(to_finite_value(&self.0)?.to_string())
    }
}

impl<T: Display + Send + 'static> StreamItem for Text<T> {
    fn message(&self) -> Result<String, CallError> {
        Ok(self.0.to_string())
    }

    const IS_TEXT: bool = true;
}

macro_rules! items {
    ($is_text:literal: $($type:ty)*) => { $(
        impl StreamItem for $type {
            fn message(&self) -> Result<String, CallError> {
                Ok(self.to_string())
            }

            const IS_TEXT: bool = $is_text;
        }
    )* };
}

items!(true: String &'static str Cow<'static, str> Box<str> char);
items!(false: bool i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64);
