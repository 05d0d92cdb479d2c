use super::{ChangeFilter, CompleteArgument, List, TaskOperation};
use crate::{
    call::{Utf8Bytes, held_as_values},
    tasks::TaskId,
};

/// What a client wants of the server.
#[derive(Debug)]
pub(crate) enum Operation {
    /// `server/discover`.
    Discover,
    /// One of the four lists, from a cursor on.
    List(List, Option<String>),
    /// `tools/call`, `prompts/get` or `resources/read`.
    Call(Target),
    /// `completion/complete`.
    Complete(CompleteArgument),
    /// `subscriptions/listen`.
    Listen(ChangeFilter),
    /// `tasks/get`, `tasks/update` or `tasks/cancel`; without an id if what the client names is none.
    Task(Option<TaskId>, TaskOperation),
}

/// What is called. A call may take several rounds.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) kind: TargetKind,
    /// The name of the tool or prompt, or the resource's URI.
    pub(crate) name: Utf8Bytes,
    /// The arguments, as JSON.
    pub(crate) arguments: Option<Utf8Bytes>,
    /// What the client sent as arguments, if a middleware has changed them.
    pub(crate) sent: Option<Option<Utf8Bytes>>,
}

/// A tool, a prompt or a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TargetKind {
    Tool,
    Prompt,
    Resource,
}

impl Operation {
    /// Its method.
    pub(super) fn method(&self) -> &'static str {
        match self {
            Self::Discover => "server/discover",
            Self::List(list, _) => list.method(),
            Self::Call(target) => target.kind.method(),
            Self::Complete(_) => "completion/complete",
            Self::Listen(_) => "subscriptions/listen",
            Self::Task(_, operation) => operation.method(),
        }
    }

    /// About how many bytes of memory it takes, with the values that are read from it.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Call(target) => target.name.len() + target.arguments.as_deref().map_or(0, held_as_values),
            Self::Complete(CompleteArgument { name, argument, value, known, .. }) => {
                let known = known.iter().map(|(name, value)| name.len() + value.len() + 64);
                name.len() + argument.len() + 2 * value.len() + known.sum::<usize>()
            }
            Self::List(_, Some(cursor)) => cursor.len(),
            Self::Task(_, TaskOperation::Update { answers, others }) => {
                answers.iter().chain(others).map(|(key, answer)| key.len() + answer.get().len()).sum()
            }
            // A subscription takes room for its URIs.
            Self::Discover | Self::List(_, None) | Self::Listen(_) | Self::Task(..) => 0,
        }
    }

    /// What is called.
    pub(super) fn target(&self) -> Option<&Target> {
        match self {
            Self::Call(target) => Some(target),
            _ => None,
        }
    }

    /// The name or URI of the item that it is about.
    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Self::Call(target) => Some(&target.name),
            Self::Complete(argument) => Some(&argument.name),
            _ => None,
        }
    }
}

impl TargetKind {
    pub(crate) const ALL: [Self; 3] = [Self::Tool, Self::Prompt, Self::Resource];

    /// How messages and methods name it, one and several, and the method that calls it.
    fn described(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Tool => ("tool", "tools", "tools/call"),
            Self::Prompt => ("prompt", "prompts", "prompts/get"),
            Self::Resource => ("resource", "resources", "resources/read"),
        }
    }

    pub(super) fn noun(self) -> &'static str {
        self.described().0
    }

    pub(crate) fn plural(self) -> &'static str {
        self.described().1
    }

    pub(crate) fn method(self) -> &'static str {
        self.described().2
    }
}
