use std::{fmt, sync::Arc};

use super::{CompleteArgument, TargetKind};
use crate::{argument::ArgumentErrors, auth::BudgetFull, call::Utf8Bytes, schema::shortened_to, tasks::KeeperError};

/// Why an operation does not start.
#[derive(Debug)]
pub(crate) enum Refusal {
    Unknown {
        kind: TargetKind,
        name: Utf8Bytes,
        similar: Option<String>,
    },
    NothingToComplete(CompleteArgument),
    UnknownCursor,
    HeaderMismatch(String),
    InvalidState,
    /// `arguments` is not a JSON object, or for a prompt not one of strings.
    NotArguments(TargetKind),
    BadArguments {
        kind: TargetKind,
        bad: ArgumentErrors,
    },
    /// The credentials of the caller.
    Expired,
    /// What the caller must be allowed to do, and is not.
    InsufficientScope(Vec<String>),
    /// The server is shutting down.
    Stopping,
    /// The caller, or all callers together, use all that they may.
    Full(BudgetFull),
    /// The client does not declare tasks, and this is about tasks or runs as one only.
    NeedsTasks,
    /// What was sent under this key as the answer to a question answers no kind of question.
    InvalidAnswer(Arc<str>),
    /// There is no such task of this caller.
    UnknownTask,
    /// The task was sealed with keys that this process does not have.
    SealedTask,
    /// Tasks cannot be kept or read now.
    Keeper(KeeperError),
    /// Code of the author panicked; this names it.
    Panicked(&'static str),
}

/// One sentence, for the client and for the log.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { kind, name, similar } => {
                write!(f, "there is no {} `{}`", kind.noun(), shortened(name))?;
                similar.iter().try_for_each(|similar| write!(f, "; did you mean `{similar}`?"))
            }
            // The same whether the item or its argument is unknown.
            Self::NothingToComplete(CompleteArgument { kind, name, argument, .. }) => {
                let (item, part) = match kind {
                    TargetKind::Resource => ("resource template", "variable"),
                    _ => ("prompt", "argument"),
                };
                write!(f, "there is no {item} `{}` with the {part} `{}`", shortened(name), shortened(argument))
            }
            Self::UnknownCursor => f.write_str("unknown `params.cursor`: request the list again without one"),
            Self::HeaderMismatch(message) => f.write_str(message),
            Self::InvalidState => {
                f.write_str("`requestState` is not valid for this request; make the request again without it")
            }
            Self::NotArguments(TargetKind::Prompt) => f.write_str("`params.arguments` must be an object of strings"),
            Self::NotArguments(_) => f.write_str("`params.arguments` must be an object"),
            Self::BadArguments { bad, .. } => bad.fmt(f),
            Self::Expired => f.write_str("the credentials of the caller have expired: authenticate again"),
            Self::InsufficientScope(scopes) => {
                write!(f, "the caller lacks a scope: this needs `{}`", scopes.join("`, `"))
            }
            Self::Stopping => f.write_str("the server is shutting down, try again later"),
            Self::Full(full) => full.fmt(f),
            Self::NeedsTasks => f.write_str(
                "this needs a client that supports tasks: it must declare the extension `io.modelcontextprotocol/tasks`",
            ),
            // Not what was sent: it may be an answer, which no log has.
            Self::InvalidAnswer(key) => write!(
                f,
                "`params.inputResponses` has an invalid answer under `{}`: expected the result of an elicitation, such as \
                 `{{\"action\":\"accept\",\"content\":{{..}}}}`, of sampling or of `roots/list`",
                shortened(key)
            ),
            Self::UnknownTask => f.write_str("there is no such task: it is unknown, or has expired"),
            Self::SealedTask => f.write_str(
                "this process cannot read the task: it was written with other keys, or without any",
            ),
            Self::Keeper(_) => f.write_str("tasks are not available now, try again later"),
            Self::Panicked(what) => write!(f, "{what} panicked"),
        }
    }
}

impl From<BudgetFull> for Refusal {
    fn from(full: BudgetFull) -> Self {
        Self::Full(full)
    }
}

/// What a client sent, short enough to repeat it.
pub(crate) fn shortened(text: &str) -> String {
    shortened_to(100, text)
}
