use std::{any::TypeId, fmt, sync::Arc};

use rmcp::model;

use super::{
    function::{Function, FunctionReader, IconDetails, Reader, icons},
    prompt::choices,
};
use crate::{
    graph::{ItemNode, needs_of},
    inject::Need,
    schema::InputSchema,
};

/// A resource, or a template of many, ready to be given to a server.
///
/// `resources![..]` makes them from functions marked `#[resource("..")]`.
#[derive(Clone)]
pub struct Resource {
    details: ResourceDetails,
    uri: String,
    reader: Arc<dyn Reader>,
    needs: Vec<(&'static str, Need)>,
    node: &'static ItemNode<'static>,
    arguments: Vec<(String, bool)>,
    choices: Vec<(String, Vec<String>)>,
    types: Vec<(&'static str, TypeId)>,
}

impl Resource {
    /// The resource that a function marked `#[resource("..")]` is.
    pub fn of<F: Function<Details = ResourceDetails>>(receiver: Arc<F::Receiver>) -> Self {
        let details = F::DETAILS;
        let schema = InputSchema::of::<F::Set>(F::PARAMS);
        Self {
            details,
            uri: details.uri.to_owned(),
            arguments: schema.arguments().map(|(name, _, required)| (name.to_owned(), required)).collect(),
            choices: choices(&schema),
            types: schema.types().to_vec(),
            reader: Arc::new(FunctionReader::<F>::new(receiver)),
            needs: needs_of(F::node().arguments, F::node().edges),
            node: F::node(),
        }
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

    /// What the attributes said.
    pub fn details(&self) -> &ResourceDetails {
        &self.details
    }

    /// What `resources/list` says of it, if it is a resource and not a template.
    pub fn record(&self) -> model::Resource {
        let mut record = model::Resource::new(&self.uri, self.details.name);
        record.title = self.details.title.map(Into::into);
        record.description = self.details.description.map(Into::into);
        record.mime_type = self.details.mime_type.map(Into::into);
        record.icons = icons(self.details.icons);
        record
    }

    /// What `resources/templates/list` says of it, if it is a template.
    pub fn template_record(&self) -> model::ResourceTemplate {
        let mut record = model::ResourceTemplate::new(&self.uri, self.details.name);
        record.title = self.details.title.map(Into::into);
        record.description = self.details.description.map(Into::into);
        record.mime_type = self.details.mime_type.map(Into::into);
        record.icons = icons(self.details.icons);
        record
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

    /// The names of the arguments, and whether each is required: each must be a variable of the template.
    pub fn arguments(&self) -> &[(String, bool)] {
        &self.arguments
    }

    /// The values that an argument's type allows, if it lists them.
    pub fn choices(&self, argument: &str) -> Option<&[String]> {
        self.choices.iter().find(|(name, _)| name == argument).map(|(_, values)| values.as_slice())
    }

    /// Whether an argument certainly takes every text that an argument of another resource takes.
    pub fn takes_all_of(&self, argument: &str, other: &Self, others: &str) -> bool {
        let any = [TypeId::of::<String>(), TypeId::of::<Option<String>>()];
        let (ours, theirs) = (self.type_of(argument), other.type_of(others));
        ours.is_some_and(|ours| theirs.is_some() && (any.contains(&ours) || Some(ours) == theirs))
    }

    fn type_of(&self, argument: &str) -> Option<TypeId> {
        self.types.iter().find(|(name, _)| *name == argument).map(|(_, of)| *of)
    }
}

impl fmt::Debug for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resource").field("uri", &self.uri).field("name", &self.details.name).finish_non_exhaustive()
    }
}

/// What `#[resource("..")]` knows besides the parameters.
#[derive(Debug, Clone, Copy)]
pub struct ResourceDetails {
    /// The URI, or the URI template.
    pub uri: &'static str,
    /// The resource's name.
    pub name: &'static str,
    /// `title = ".."`.
    pub title: Option<&'static str>,
    /// The doc comment.
    pub description: Option<&'static str>,
    /// `mime_type = ".."`.
    pub mime_type: Option<&'static str>,
    /// `ttl_ms = ..`: for how long a client may keep the contents.
    pub ttl_ms: Option<u64>,
    /// `public`: whether a cache may hand the contents to other callers.
    pub public: Option<bool>,
    /// `icon(..)`.
    pub icons: &'static [IconDetails],
}

impl ResourceDetails {
    /// A resource with nothing but its URI and its name.
    pub const fn new(uri: &'static str, name: &'static str) -> Self {
        Self { uri, name, title: None, description: None, mime_type: None, ttl_ms: None, public: None, icons: &[] }
    }
}
