use std::{fmt, marker::PhantomData};

use super::{IntoPromptResult, IntoResourceContents, IntoToolResult};
use crate::{
    error::Halt,
    item::{Kind, Output, PromptKind, ResourceKind, ToolKind},
    schema::OutputSchema,
};

/// How a function's return type `T` becomes its result.
///
/// The macros make one for each function and use nothing else of the return type, so that a type which is no reply
/// is one error.
pub struct Replying<T> {
    /// The result the client gets.
    pub reply: fn(T) -> Result<Output, Halt>,
    /// The schema of `structuredContent`, if there is any.
    pub output_schema: fn() -> Option<OutputSchema>,
}

/// Tells whether a function of that kind can return `T`: `Replies::<T, ToolKind>::SOUND`. Works on concrete types only.
#[derive(Debug)]
pub struct Replies<T, K>(PhantomData<(T, K)>);

impl<T: IntoToolResult> Replies<T, ToolKind> {
    /// It can.
    pub const SOUND: bool = true;
}

impl<T: IntoPromptResult> Replies<T, PromptKind> {
    /// It can.
    pub const SOUND: bool = true;
}

impl<T: IntoResourceContents> Replies<T, ResourceKind> {
    /// It can.
    pub const SOUND: bool = true;
}

/// The other answer of `Replies::SOUND`.
pub trait NotReply {
    /// It cannot.
    const SOUND: bool = false;
}

impl<T, K> NotReply for Replies<T, K> {}

/// What a function of that kind returns, given whether it can.
pub trait Replied<K: Kind, const SOUND: bool>: Sized {
    /// How it replies with that.
    const REPLYING: Replying<Self>;
}

impl<T: IntoToolResult> Replied<ToolKind, true> for T {
    const REPLYING: Replying<T> = Replying { reply: T::into_output, output_schema: T::output_schema };
}

impl<T: IntoPromptResult> Replied<PromptKind, true> for T {
    const REPLYING: Replying<T> = Replying { reply: T::into_output, output_schema: || None };
}

impl<T: IntoResourceContents> Replied<ResourceKind, true> for T {
    const REPLYING: Replying<T> = Replying { reply: T::into_output, output_schema: || None };
}

impl<T, K: Kind> Replied<K, false> for T {
    const REPLYING: Replying<T> = Replying {
        reply: |_| unreachable!("a function that returns what is no reply does not compile"),
        output_schema: || None,
    };
}

impl<T> fmt::Debug for Replying<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Replying")
    }
}
