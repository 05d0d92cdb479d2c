//! What a function may return: text, JSON, images, and your own types.

/// Implements a trait for each of these types, by what a value of it becomes.
macro_rules! becomes {
    ($trait:ident::$method:ident -> $result:ty { $($type:ty: $value:ident => $made:expr;)* }) => { $(
        impl $trait for $type {
            fn $method(self) -> Result<$result, CallError> {
                let $value = self;
                Ok($made)
            }
        }
    )* };
}

mod by_hand;
mod content;
mod finite;
mod output;
mod output_schema;
mod prompt;
mod resource;
mod stream;
mod tool;

pub use by_hand::Reply;
pub(crate) use content::Structured;
pub use content::{Audio, Image, Json, Text};
#[doc(hidden)]
pub use output::{FunctionOutput, Output};
pub(crate) use output::{FunctionRun, OutputStream};
pub use output_schema::OutputSchema;
pub use prompt::IntoPromptResult;
pub(crate) use resource::ResourceBody;
pub use resource::{Blob, IntoResourceContents};
pub use stream::{StreamItem, StreamOf, ToolStream};
pub use tool::IntoToolResult;

use std::borrow::Cow;

use crate::model::{CallToolResult, GetPromptResult};

use crate::{call::Halt, error::CallError};

/// What the `Err` of a function's result may be: a [`CallError`], a text, or an error of your own that says what the client
/// sees.
///
/// The model reads a text. `?` turns every other error into a [`CallError`] whose text goes to the log only. Implement this
/// for an error whose text is for the model, and return it.
///
/// ```
/// use rejoinder::{CallError, prelude::*, reply::IntoCallError, testing::Client};
/// use serde_json::json;
///
/// #[derive(Debug, thiserror::Error)]
/// enum OrderError {
///     #[error("there is no order {0}; list the orders first")]
///     Unknown(u32),
///     #[error(transparent)]
///     Database(#[from] std::io::Error),
/// }
///
/// impl IntoCallError for OrderError {
///     fn into_call_error(self) -> CallError {
///         match self {
///             Self::Unknown(_) => CallError::new(self.to_string()),
///             Self::Database(error) => CallError::internal(error),
///         }
///     }
/// }
///
/// #[tool]
/// async fn cancel(order: u32) -> Result<String, OrderError> {
///     Err(OrderError::Unknown(order))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
/// let client = Client::new(Server::new("shop", "1.0.0").tools(tools![cancel]));
/// let reply = client.call_tool("cancel", json!({ "order": 7 })).await?;
/// assert_eq!(reply.text(), "there is no order 7; list the orders first");
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a tool, prompt, resource or resolver",
    label = "not a `CallError`",
    note = "if its text is for the model, use `CallError::new(text)`, or implement `rejoinder::reply::IntoCallError` for it",
    note = "if it is for the log, use `?`, which converts every error into a `CallError`; in a stream, \
            `.map_err(CallError::internal)`"
)]
pub trait IntoCallError {
    /// What the client sees.
    fn into_call_error(self) -> CallError;
}

impl IntoCallError for CallError {
    fn into_call_error(self) -> CallError {
        self
    }
}

/// The model reads the text, as with [`CallError::new`].
macro_rules! texts {
    ($($text:ty)*) => { $(
        impl IntoCallError for $text {
            fn into_call_error(self) -> CallError {
                CallError::new(self)
            }
        }
    )* };
}

texts!(String &'static str Cow<'static, str>);

/// A `Result` and a `Reply` are what they hold, or else an error or another round.
macro_rules! wrappers {
    ($($trait:ident::$method:ident -> $result:ty { $($schema:tt)* })*) => { $(
        impl<T: $trait, E: IntoCallError> $trait for Result<T, E> {
            fn $method(self) -> Result<$result, CallError> {
                self.map_err(IntoCallError::into_call_error)?.$method()
            }

            fn into_output(self) -> Result<FunctionOutput, Halt> {
                self.map_err(IntoCallError::into_call_error)?.into_output()
            }

            const BY_HAND: bool = T::BY_HAND;

            $($schema)*
        }

        impl<T: $trait> $trait for Reply<T> {
            fn $method(self) -> Result<$result, CallError> {
                self.only_result()?.$method()
            }

            fn into_output(self) -> Result<FunctionOutput, Halt> {
                self.0?.into_output()
            }

            const BY_HAND: bool = true;

            $($schema)*
        }
    )* };
}

wrappers! {
    IntoToolResult::into_tool_result -> CallToolResult {
        fn output_schema() -> Option<OutputSchema> {
            T::output_schema()
        }
    }
    IntoPromptResult::into_prompt_result -> GetPromptResult {}
    IntoResourceContents::into_resource_contents -> ResourceBody {}
}
