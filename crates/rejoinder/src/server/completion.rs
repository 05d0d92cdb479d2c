use std::{collections::BTreeMap, panic::AssertUnwindSafe, sync::Arc};

use futures_util::FutureExt;
use rejoinder_core::call::{Call, Completing, Param};

use super::{Panicked, engine::Engine};

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
                // The reply is one message: nobody takes what is said before it, and whoever says it must not wait.
                call.outbox().close();
                let values = async { complete(Completing { value, arguments, call }).await };
                let values = AssertUnwindSafe(values).catch_unwind().await.map_err(|_| Panicked)?;
                Some(Completion::new(values))
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

enum Source {
    Function(rejoinder_core::call::Complete),
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
