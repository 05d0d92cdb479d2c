use std::{fmt, sync::Arc};

use crate::{
    call::{Dependencies, Unknown},
    graph::{Edge, bad_forms},
    inject::Need,
    item::{Prompt, Resource, Tool},
};

use super::{Options, registry::Registry};

/// One mistake in how a server is put together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildProblem {
    /// What it is about: ``tool `add` ``.
    pub of: String,
    /// What is wrong, and what to do.
    pub mistake: String,
}

/// Every mistake in how a server is put together.
#[derive(Clone, PartialEq, Eq)]
pub struct BuildError(pub Vec<BuildProblem>);

/// The sentences too: `unwrap()` shows this, in a test above all.
impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the server cannot be built:")?;
        self.list(f)
    }
}

impl BuildError {
    /// Each mistake on a line of its own.
    pub(super) fn list(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|BuildProblem { of, mistake }| write!(f, "\n  {of}: {mistake}"))
    }
}

impl std::error::Error for BuildError {}

/// Puts items on shelves and collects the mistakes in them.
pub(super) struct Check<'a> {
    dependencies: &'a Dependencies,
    unknown_arguments: Unknown,
    pub(super) registry: Registry,
    found: Vec<BuildProblem>,
}

impl<'a> Check<'a> {
    /// Nothing is on the shelves yet.
    pub(super) fn new(dependencies: &'a Dependencies, options: &Options) -> Self {
        let unknown_arguments = options.unknown_arguments;
        Self { dependencies, unknown_arguments, registry: Registry::default(), found: Vec::new() }
    }

    pub(super) fn tool(&mut self, mut tool: Tool) {
        let of = format!("tool `{}`", tool.name());
        self.name(&of, tool.name());
        self.needs(&of, tool.needs());
        self.forms(&of, tool.edges());
        tool.mistakes().into_iter().for_each(|mistake| self.report(&of, mistake));
        if self.registry.tools.get(tool.name()).is_some() {
            self.report(&of, "there are two of this name; give one of them another with `#[tool(name = \"..\")]`, or use `Server::nest`");
        }
        if self.unknown_arguments == Unknown::Ignored {
            open_schema(&mut tool);
        }
        let mut mistakes = Vec::new();
        self.registry.add_tool(tool, &mut mistakes);
        mistakes.into_iter().for_each(|mistake| self.report(&of, mistake));
    }

    pub(super) fn prompt(&mut self, prompt: Prompt) {
        let of = format!("prompt `{}`", prompt.name());
        self.name(&of, prompt.name());
        self.needs(&of, prompt.needs());
        self.forms(&of, prompt.node().edges);
        if self.registry.prompts.get(prompt.name()).is_some() {
            self.report(&of, "there are two of this name; give one of them another with `#[prompt(name = \"..\")]`");
        }
        self.registry.add_prompt(prompt);
    }

    pub(super) fn resource(&mut self, resource: Resource) {
        let of = format!("resource `{}`", resource.uri());
        self.needs(&of, resource.needs());
        self.forms(&of, resource.node().edges);
        if !resource.uri().contains(':') {
            self.report(&of, "a URI begins with a scheme, such as `files://`");
        }
        if self.registry.resources.get(resource.uri()).is_some() {
            self.report(&of, "there are two at this URI; give one of them another");
        }
        let (mut mistakes, uri) = (Vec::new(), resource.uri().to_owned());
        self.registry.add_resource(resource, &mut mistakes);
        mistakes.into_iter().for_each(|mistake| self.report(&of, mistake));
        self.found.extend(hidden(&self.registry, &uri));
    }

    pub(super) fn report(&mut self, of: &str, mistake: impl Into<String>) {
        self.found.push(BuildProblem { of: of.to_owned(), mistake: mistake.into() });
    }

    /// The shelves, unless there is a mistake in what is on them.
    pub(super) fn finish(self) -> Result<Registry, BuildError> {
        if self.found.is_empty() { Ok(self.registry) } else { Err(BuildError(self.found)) }
    }

    fn needs(&mut self, of: &str, needs: &[(&'static str, Need)]) {
        for (parameter, need) in needs {
            if self.dependencies.contains(need.id) {
                continue;
            }
            let whose = need.resolver.map(|resolver| format!(" of resolver `{resolver}`")).unwrap_or_default();
            let name = need.name;
            let remedy = if self.dependencies.contains(need.shared) {
                "an `Arc` of one was provided, so use `.provide_arc(..)`".to_owned()
            } else if name.starts_with("dyn ") {
                format!("provide an `Arc<{name}>` with `.provide_arc(..)`")
            } else {
                "provide one with `.provide(..)`".to_owned()
            };
            self.report(of, format!("parameter `{parameter}`{whose} needs a `{name}`: {remedy}"));
        }
    }

    fn forms(&mut self, of: &str, edges: &[Edge]) {
        bad_forms(edges).into_iter().for_each(|mistake| self.report(of, mistake));
    }

    fn name(&mut self, of: &str, name: &str) {
        let legal = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        if name.is_empty() || name.len() > 128 || !name.chars().all(legal) {
            self.report(of, "a name has 1 to 128 letters, digits, `_`, `-` or `.`");
        }
    }
}

/// The mistake that a template has the URIs of another, which gets them all, be it the one at this URI that is hidden or the one that hides it.
pub(super) fn hidden(registry: &Registry, uri: &str) -> Option<BuildProblem> {
    let (second, first) = registry.hidden(uri)?;
    Some(BuildProblem {
        of: format!("resource `{second}`"),
        mistake: format!("there are two for the same URIs, and `{first}` gets them all; give one of them others"),
    })
}

/// Takes back that a tool's schema refuses what it does not name, if that is what it says.
fn open_schema(tool: &mut Tool) {
    const FIELD: &str = "additionalProperties";
    let schema = &mut tool.record_mut().input_schema;
    if schema.get(FIELD) == Some(&false.into()) {
        Arc::make_mut(schema).remove(FIELD);
    }
}
