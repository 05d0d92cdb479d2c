use crate::call::Call;

/// What a pipe knows of the value that it gets: a parameter of functions marked [`#[pipe]`](crate::pipe).
///
/// ```
/// use rejoinder::{FieldError, PipeContext, prelude::*};
///
/// #[pipe]
/// fn not_blank(text: String, context: PipeContext) -> Result<String, FieldError> {
///     if text.trim().is_empty() {
///         return Err(FieldError::new(format!("say what the {} is", context.field)));
///     }
///     Ok(text)
/// }
///
/// // In a unit test the function is called as it is.
/// assert!(not_blank(" ".to_owned(), PipeContext::detached("title")).is_err());
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PipeContext {
    /// The name of the argument or of the header.
    pub field: &'static str,
    /// Where the value comes from.
    pub source: PipeSource,
    /// The call.
    pub call: Call,
}

impl PipeContext {
    /// The context of an argument of that name without a request, for calling a pipe's function in a unit test.
    pub fn detached(field: &'static str) -> Self {
        Self { field, source: PipeSource::Argument, call: Call::detached() }
    }
}

/// Where the value that a pipe gets comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PipeSource {
    /// The model's arguments.
    Argument,
    /// A header of the request.
    Header,
}
