use std::sync::Arc;

use crate::model;

use super::function::{Function, ItemDetails, ItemFunction};
use crate::argument::InputSchema;

/// A resource, or a template of many, ready to be given to a server.
///
/// `resources![..]` makes them from functions marked `#[resource("..")]`.
#[derive(Debug, Clone)]
pub struct Resource {
    details: ItemDetails,
    uri: String,
    pub(crate) function: ItemFunction,
}

impl Resource {
    /// The resource that a function marked `#[resource("..")]` is.
    pub fn of<F: Function>(receiver: Arc<F::Receiver>) -> Self {
        let (details, schema) = (F::DETAILS, InputSchema::of::<F::Set>(F::PARAMS));
        Self { details, uri: details.uri.to_owned(), function: ItemFunction::of::<F>(receiver, &schema) }
    }

    /// The URI or URI template.
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// The same function at another URI or URI template with the same variables.
    #[must_use]
    pub fn at(mut self, uri: impl Into<String>) -> Self {
        self.uri = uri.into();
        self
    }

    /// What its attributes declare.
    pub fn details(&self) -> &ItemDetails {
        &self.details
    }

    /// Its entry in `resources/list`, if it is not a template.
    pub fn record(&self) -> model::Resource {
        let mut record = model::Resource::new(&self.uri, self.details.name);
        record.title = self.details.title.map(Into::into);
        record.description = self.details.description.map(Into::into);
        record.mime_type = self.details.mime_type.map(Into::into);
        record.icons = self.details.icons();
        record
    }

    /// Its entry in `resources/templates/list`, if it is a template.
    pub fn template_record(&self) -> model::ResourceTemplate {
        let mut record = model::ResourceTemplate::new(&self.uri, self.details.name);
        record.title = self.details.title.map(Into::into);
        record.description = self.details.description.map(Into::into);
        record.mime_type = self.details.mime_type.map(Into::into);
        record.icons = self.details.icons();
        record
    }
}
