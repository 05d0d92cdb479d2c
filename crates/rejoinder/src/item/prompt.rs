use std::{fmt, sync::Arc};

use rmcp::model::{self, PromptArgument};
use serde_json::Value;

use super::function::{Function, FunctionReader, IconDetails, Reader, icons};
use crate::{
    graph::{ItemNode, needs_of},
    inject::Need,
    schema::InputSchema,
};

/// A prompt, ready to be given to a server. `prompts![..]` makes them from functions marked `#[prompt]`.
#[derive(Clone)]
pub struct Prompt {
    record: model::Prompt,
    reader: Arc<dyn Reader>,
    needs: Vec<(&'static str, Need)>,
    node: &'static ItemNode<'static>,
    choices: Vec<(String, Vec<String>)>,
}

impl Prompt {
    /// The prompt that a function marked `#[prompt]` is.
    pub fn of<F: Function<Details = PromptDetails>>(receiver: Arc<F::Receiver>) -> Self {
        let details = F::DETAILS;
        let schema = InputSchema::of::<F::Set>(F::PARAMS);
        let arguments: Vec<_> = schema
            .arguments()
            .map(|(name, schema, required)| {
                let mut argument = PromptArgument::new(name).with_required(required);
                argument.description = schema.get("description").and_then(Value::as_str).map(str::to_owned);
                argument
            })
            .collect();
        let mut record = model::Prompt::default();
        record.name = details.name.into();
        record.title = details.title.map(Into::into);
        record.description = details.description.map(Into::into);
        record.arguments = (!arguments.is_empty()).then_some(arguments);
        record.icons = icons(details.icons);
        Self {
            record,
            choices: choices(&schema),
            reader: Arc::new(FunctionReader::<F>::new(receiver)),
            needs: needs_of(F::node().arguments, F::node().edges),
            node: F::node(),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.record.name
    }

    /// What lists say of it.
    pub fn record(&self) -> &model::Prompt {
        &self.record
    }

    /// What lists say of it, to change what no attribute covers.
    pub fn record_mut(&mut self) -> &mut model::Prompt {
        &mut self.record
    }

    /// What reads its arguments.
    pub fn reader(&self) -> &dyn Reader {
        &*self.reader
    }

    /// Its place in the graph.
    pub fn node(&self) -> &'static ItemNode<'static> {
        self.node
    }

    /// What must have been provided, by parameter.
    pub fn needs(&self) -> &[(&'static str, Need)] {
        &self.needs
    }

    /// The values that an argument's type allows, if it lists them.
    pub fn choices(&self, argument: &str) -> Option<&[String]> {
        self.choices.iter().find(|(name, _)| name == argument).map(|(_, values)| values.as_slice())
    }
}

impl fmt::Debug for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prompt").field("record", &self.record).finish_non_exhaustive()
    }
}

/// The arguments whose type is an enum, with its values.
pub(super) fn choices(schema: &InputSchema) -> Vec<(String, Vec<String>)> {
    let values = |schema: &Value| {
        let listed = schema.get("enum")?.as_array()?.iter();
        Some(listed.filter_map(Value::as_str).map(str::to_owned).collect())
    };
    schema.arguments().filter_map(|(name, schema, _)| Some((name.to_owned(), values(schema)?))).collect()
}

/// What `#[prompt]` knows besides the parameters.
#[derive(Debug, Clone, Copy)]
pub struct PromptDetails {
    /// The prompt's name.
    pub name: &'static str,
    /// `title = ".."`.
    pub title: Option<&'static str>,
    /// The doc comment.
    pub description: Option<&'static str>,
    /// `icon(..)`.
    pub icons: &'static [IconDetails],
}

impl PromptDetails {
    /// A prompt with nothing but its name.
    pub const fn new(name: &'static str) -> Self {
        Self { name, title: None, description: None, icons: &[] }
    }
}
