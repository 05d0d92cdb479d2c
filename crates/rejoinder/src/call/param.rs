use std::{collections::BTreeMap, fmt};

use super::{Call, Default};
use crate::BoxFuture;

/// What the author wrote about one plain parameter.
#[derive(Debug, Clone, Copy)]
pub struct Param {
    /// Its name, which is the argument's name.
    pub name: &'static str,
    /// Its doc comment.
    pub description: Option<&'static str>,
    /// `#[arg(default = ..)]`.
    pub default: Option<Default>,
    /// `#[arg(header = "..")]`: the suffix of the `Mcp-Param-` header that repeats it.
    pub header: Option<&'static str>,
    /// `#[arg(complete = ..)]`.
    pub complete: Option<Complete>,
}

/// A function that proposes values for an argument while the user types it.
pub(crate) type Complete = fn(CompletionRequest) -> BoxFuture<'static, Vec<String>>;

/// A function that can be named in `#[arg(complete = ..)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not complete an argument",
    label = "not an `async fn(CompletionRequest) -> Vec<String>`"
)]
pub trait Completes {
    /// Proposes values.
    fn complete(self, completing: CompletionRequest) -> BoxFuture<'static, Vec<String>>;
}

#[diagnostic::do_not_recommend]
impl<F, P> Completes for F
where
    F: FnOnce(CompletionRequest) -> P,
    P: Future<Output = Vec<String>> + Send + 'static,
{
    fn complete(self, completing: CompletionRequest) -> BoxFuture<'static, Vec<String>> {
        Box::pin(self(completing))
    }
}

/// What a completion function gets.
#[derive(Clone)]
pub struct CompletionRequest {
    /// What the user has typed so far.
    pub value: String,
    /// The arguments that have been filled in already.
    pub arguments: BTreeMap<String, String>,
    /// The call, for provided services.
    pub call: Call,
}

impl fmt::Debug for CompletionRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompletionRequest")
            .field("value", &self.value)
            .field("arguments", &self.arguments)
            .finish_non_exhaustive()
    }
}
