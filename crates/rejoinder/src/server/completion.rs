use std::{collections::BTreeMap, sync::Arc};

use super::{Running, door::Refusal, engine::Engine};
use crate::{
    call::{Call, Complete, CompletionRequest, Param, RequestInfo},
    item::Output,
};

/// What an argument belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reference {
    Prompt(String),
    Resource(String),
}

/// Proposed values: at most a hundred, and how many there are in all.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Completion {
    pub(crate) values: Vec<String>,
    pub(crate) total: usize,
}

/// The protocol's limit.
const MOST: usize = 100;

impl Completion {
    pub(crate) fn new(mut values: Vec<String>) -> Self {
        let total = values.len();
        values.truncate(MOST);
        Self { values, total }
    }

    pub(crate) fn has_more(&self) -> bool {
        self.total > self.values.len()
    }
}

/// The argument that a client wants values for.
#[derive(Debug, Clone)]
pub(crate) struct CompleteArgument {
    pub(crate) reference: Reference,
    pub(crate) argument: String,
    /// What was typed so far.
    pub(crate) value: String,
    /// The other arguments, as far as they are known.
    pub(crate) known: BTreeMap<String, String>,
}

impl Engine {
    /// Proposes values for an argument.
    pub(super) fn complete(
        self: &Arc<Self>,
        completing: CompleteArgument,
        request: RequestInfo,
    ) -> Result<Running, Refusal> {
        let Some(source) = self.source(&completing.reference, &completing.argument) else {
            return Err(Refusal::NothingToComplete(completing));
        };
        let call = Call::new(request, Arc::clone(&self.dependencies));
        let CompleteArgument { value, known: arguments, .. } = completing;
        let completion_request = CompletionRequest { value, arguments, call: call.clone() };
        let mut running = Running::new("completion".into(), call, self.slot()?);
        running.run_future(Box::pin(async move {
            Ok(Output::Completion(match source {
                Source::Function(complete) => complete(completion_request).await,
                Source::Choices(mut choices) => {
                    choices.retain(|choice| choice.starts_with(&completion_request.value));
                    choices
                }
                Source::Nothing => Vec::new(),
            }))
        }));
        Ok(running)
    }

    fn source(&self, reference: &Reference, argument: &str) -> Option<Source> {
        match reference {
            Reference::Prompt(name) => {
                let entry = self.prompt(name)?;
                source(entry.prompt.reader().params(), argument, || entry.prompt.choices(argument).map(<[_]>::to_vec))
            }
            Reference::Resource(uri) => {
                let entry = self.resource_named(uri)?;
                source(entry.resource.reader().params(), argument, || {
                    entry.resource.choices(argument).map(<[_]>::to_vec)
                })
            }
        }
    }
}

enum Source {
    Function(Complete),
    Choices(Vec<String>),
    Nothing,
}

/// Where values come from: the author's function, else the values that the type lists.
fn source(params: &[Param], argument: &str, choices: impl FnOnce() -> Option<Vec<String>>) -> Option<Source> {
    let param = params.iter().find(|param| param.name == argument)?;
    Some(match param.complete {
        Some(complete) => Source::Function(complete),
        None => choices().map_or(Source::Nothing, Source::Choices),
    })
}
