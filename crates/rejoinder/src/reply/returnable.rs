//! What a function of each kind may return, asked of one part of it at a time: each of the traits is a sentence of the
//! compiler. Of a trait with one implementation for all, it does not list who has it.

use super::{Failure, IntoPromptResult, IntoResourceContents, IntoToolResult, Structured};
use crate::error::CallError;

/// What a tool may return.
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "not a reply",
    note = "return text, a number, a `bool`, a `char`, `()`, `Json<T>`, `Text<T: Display>`, content blocks, a `CallToolResult`, a \
            `Reply<T>`, or a `Result` of one of these",
    note = "a type of your own can be returned if it implements `IntoToolResult`"
)]
pub trait ToolReply {
    /// Cannot be said of what is no reply.
    const RETURNED: () = ();
}

/// What a prompt may return.
#[diagnostic::on_unimplemented(
    message = "a prompt cannot return `{Self}`",
    label = "not a prompt",
    note = "return text, a `ContentBlock`, `PromptMessage`s, a `GetPromptResult`, a `Reply<T>`, or a `Result` of one of these",
    note = "a type of your own can be returned if it implements `IntoPromptResult`"
)]
pub trait PromptReply {
    /// Cannot be said of what is no prompt.
    const RETURNED: () = ();
}

/// What a resource may return.
#[diagnostic::on_unimplemented(
    message = "a resource cannot return `{Self}`",
    label = "not a resource's contents",
    note = "return text, `Vec<u8>`, `Blob<T>`, `Json<T>`, `ResourceContents`, a `Reply<T>`, or a `Result` of one of these",
    note = "a type of your own can be returned if it implements `IntoResourceContents`"
)]
pub trait ResourceReply {
    /// Cannot be said of what is no resource's contents.
    const RETURNED: () = ();
}

/// What `Json` can carry.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a structured result",
    label = "`Json` cannot carry this type",
    note = "a structured result implements `serde::Serialize` and `schemars::JsonSchema`"
)]
pub trait Carried {
    /// Cannot be said of what `Json` cannot carry.
    const CARRIED: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: Structured> Carried for T {}

#[diagnostic::do_not_recommend]
impl<T: IntoToolResult> ToolReply for T {}

#[diagnostic::do_not_recommend]
impl<T: IntoPromptResult> PromptReply for T {}

#[diagnostic::do_not_recommend]
impl<T: IntoResourceContents> ResourceReply for T {}

macro_rules! failures {
    ($($(#[$doc:meta])* $name:ident $message:literal)*) => { $(
        $(#[$doc])*
        #[diagnostic::on_unimplemented(
            message = $message,
            label = "not a `CallError`, and nothing that becomes one",
            note = "every `std::error::Error` becomes a `CallError` whose text only the log gets to see; what is none, such as \
            `anyhow::Error`, does with `.map_err(CallError::internal)`",
            note = "for a text that the model reads, return `CallError::new(..)`"
        )]
        pub trait $name {
            /// The error the framework deals with.
            fn into_tool_error(self) -> CallError;
        }

        #[diagnostic::do_not_recommend]
        impl<E: Failure> $name for E {
            fn into_tool_error(self) -> CallError {
                Failure::into_tool_error(self)
            }
        }
    )* };
}

failures! {
    /// What a tool may fail with.
    ToolFailure "`{Self}` cannot be the error of a tool"
    /// What a prompt may fail with.
    PromptFailure "`{Self}` cannot be the error of a prompt"
    /// What a resource may fail with.
    ResourceFailure "`{Self}` cannot be the error of a resource"
    /// What a resolver may fail with.
    ResolverFailure "`{Self}` cannot be the error of a resolver"
}
