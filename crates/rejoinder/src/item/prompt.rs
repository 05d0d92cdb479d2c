use std::sync::Arc;

use crate::model::{self, PromptArgument};
use serde_json::Value;

use super::function::{Function, ItemFunction};
use crate::argument::InputSchema;

/// A prompt, ready to be given to a server. `prompts![..]` makes them from functions marked `#[prompt]`.
#[derive(Debug, Clone)]
pub struct Prompt {
    record: model::Prompt,
    pub(crate) function: ItemFunction,
}

impl Prompt {
    /// The prompt that a function marked `#[prompt]` is.
    pub fn of<F: Function>(receiver: Arc<F::Receiver>) -> Self {
        let details = F::DETAILS;
        let schema = InputSchema::of::<F::Set>(F::PARAMS);
        let arguments: Vec<_> = schema
            .arguments()
            .map(|(name, schema, required)| {
                let mut argument = PromptArgument::new(name);
                argument.required = Some(required);
                let text = |keyword| schema.get(keyword).and_then(Value::as_str).map(str::to_owned);
                (argument.title, argument.description) = (text("title"), text("description"));
                argument
            })
            .collect();
        let mut record = model::Prompt::default();
        record.name = details.name.into();
        record.title = details.title.map(Into::into);
        record.description = details.description.map(Into::into);
        record.arguments = (!arguments.is_empty()).then_some(arguments);
        record.icons = details.icons();
        Self { record, function: ItemFunction::of::<F>(receiver, &schema) }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.record.name
    }

    /// Its entry in lists.
    pub fn record(&self) -> &model::Prompt {
        &self.record
    }

    /// Its entry in lists, to change what no attribute covers.
    pub fn record_mut(&mut self) -> &mut model::Prompt {
        &mut self.record
    }
}
