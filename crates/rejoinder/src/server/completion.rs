use std::{collections::BTreeMap, future::poll_fn, sync::Arc};

use crate::call::{Call, Complete, CompletionRequest, Param};

use super::{Event, Panicked, Running, engine::Engine};

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
    fn new(mut values: Vec<String>) -> Self {
        let total = values.len();
        values.truncate(MOST);
        Self { values, total }
    }

    pub(crate) fn has_more(&self) -> bool {
        self.total > self.values.len()
    }
}

impl Engine {
    /// Proposes values for an argument; `None` if there is no such prompt, template or argument.
    ///
    /// # Errors
    ///
    /// If the author's function panicked.
    pub(crate) async fn complete(
        self: &Arc<Self>,
        reference: &Reference,
        argument: &str,
        value: String,
        arguments: BTreeMap<String, String>,
        call: Call,
    ) -> Result<Option<Completion>, Panicked> {
        Ok(match self.source(reference, argument) {
            None => None,
            Some(Source::Function(complete)) => {
                Some(Completion::new(run(complete, CompletionRequest { value, arguments, call }).await?))
            }
            Some(Source::Choices(mut choices)) => {
                choices.retain(|choice| choice.starts_with(&value));
                Some(Completion::new(choices))
            }
            Some(Source::Nothing) => Some(Completion::default()),
        })
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

/// Runs the author's function, and whatever it has deferred.
async fn run(complete: Complete, completing: CompletionRequest) -> Result<Vec<String>, Panicked> {
    let call = completing.call.clone();
    let mut running = Running::of(Box::pin(async move { Ok(complete(completing).await) }), call);
    loop {
        match poll_fn(|cx| running.poll_event(cx)).await {
            // The reply is one message: nobody is told what is said before it.
            Event::Emitted(_) => {}
            Event::Done(values) => return values.map(Result::unwrap_or_default),
            Event::Parked(_) | Event::Again => unreachable!("a completion has nobody to ask"),
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
