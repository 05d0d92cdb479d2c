//! `completion/complete`: values for an argument that the user is typing.

use std::{collections::BTreeMap, sync::Arc};

use super::{Refusal, Running, TargetKind, door::check_scopes, engine::Engine, registry::Candidate};
use crate::{
    call::CompletionRequest,
    reply::{FunctionOutput, Output},
};

/// The argument that a client wants values for.
#[derive(Debug, Clone)]
pub(crate) struct CompleteArgument {
    pub(crate) kind: TargetKind,
    /// The name of the prompt, or the URI template of the resource.
    pub(crate) name: String,
    pub(crate) argument: String,
    /// What was typed so far.
    pub(crate) value: String,
    /// The other arguments, as far as they are known.
    pub(crate) known: BTreeMap<String, String>,
}

impl Engine {
    /// Starts to propose values for an argument: those of the author's function, else those that its type lists.
    pub(super) fn start_completion(
        &self,
        found: Option<Candidate>,
        completing: CompleteArgument,
        running: &mut Running,
    ) -> Result<(), Refusal> {
        let found = found.and_then(|Candidate { entry, .. }| {
            let argument = entry.item.function().argument(&completing.argument)?.clone();
            Some((entry, argument))
        });
        let Some((entry, argument)) = found else {
            return Err(Refusal::NothingToComplete(completing));
        };
        check_scopes(entry.item.function().scopes.iter(), running.call().request())?;
        let CompleteArgument { value, known: arguments, .. } = completing;
        let completion_request = CompletionRequest { value, arguments, call: running.call().clone() };
        let receiver = Arc::clone(&entry.item.function().receiver);
        let propose = async move {
            Ok(FunctionOutput::Done(Output::Completion(match argument.complete {
                Some(complete) => (complete.run)(receiver, argument.name, completion_request).await?,
                None => {
                    let mut choices = argument.choices;
                    choices.retain(|choice| choice.starts_with(&completion_request.value));
                    choices
                }
            })))
        };
        running.run_future(Box::pin(propose), self.settings.options.timeout);
        Ok(())
    }
}
