use std::{fmt, sync::Arc};

use arc_swap::ArcSwap;
use rejoinder_core::{
    call::Dependencies,
    inject::Need,
    model::{PromptsCapability, ResourcesCapability, ServerCapabilities, ToolsCapability},
};

use super::{
    builder::Server,
    calls::Calls,
    completion::{completes_prompt, completes_resource},
    engine::Engine,
    handle::Cell,
    hub::Hub,
    registry::Registry,
};
use crate::rounds::seal::Seal;

/// One mistake in how a server is put together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WiringError {
    /// What it is about: ``tool `add` ``.
    pub of: String,
    /// What is wrong, and what to do.
    pub mistake: String,
}

/// Every mistake in how a server is put together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WiringErrors(pub Vec<WiringError>);

impl fmt::Display for WiringErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the server cannot be built:")?;
        self.0.iter().try_for_each(|WiringError { of, mistake }| write!(f, "\n  {of}: {mistake}"))
    }
}

impl std::error::Error for WiringErrors {}

/// Collects mistakes while a server is put together.
struct Check<'a> {
    dependencies: &'a Dependencies,
    found: Vec<WiringError>,
}

impl Check<'_> {
    fn report(&mut self, of: &str, mistake: impl Into<String>) {
        self.found.push(WiringError { of: of.to_owned(), mistake: mistake.into() });
    }

    fn needs(&mut self, of: &str, needs: &[(&'static str, Need)]) {
        for (parameter, need) in needs {
            if !self.dependencies.contains(need.id) {
                self.report(
                    of,
                    format!("parameter `{parameter}` needs a `{0}`: provide one with `.provide(..)`", need.name),
                );
            }
        }
    }

    fn name(&mut self, of: &str, name: &str) {
        let legal = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        if name.is_empty() || name.len() > 128 || !name.chars().all(legal) {
            self.report(of, "a name has 1 to 128 letters, digits, `_`, `-` or `.`");
        }
    }
}

/// Puts a server together, or says everything that is wrong with it.
pub(super) fn build(mut server: Server) -> Result<Arc<Engine>, WiringErrors> {
    let cell = Arc::new(Cell::default());
    server.dependencies.insert(Arc::clone(&cell));
    let capabilities = capabilities(&server);
    let info_json = serde_json::value::to_raw_value(&server.info).expect("plain strings serialise");
    let mut registry = Registry::default();
    let mut check = Check { dependencies: &server.dependencies, found: Vec::new() };
    let mut mistakes = Vec::new();

    for tool in server.tools.unwrap_or_default() {
        let of = format!("tool `{}`", tool.name());
        check.name(&of, tool.name());
        check.needs(&of, tool.needs());
        tool.mistake().into_iter().for_each(|mistake| check.report(&of, mistake));
        if registry.tools.get(tool.name()).is_some() {
            check.report(&of, "there are two of this name; give one of them another with `#[tool(name = \"..\")]`");
        }
        registry.add_tool(tool, &mut mistakes);
        mistakes.drain(..).for_each(|mistake| check.report(&of, mistake));
    }
    for prompt in server.prompts.unwrap_or_default() {
        let of = format!("prompt `{}`", prompt.name());
        check.name(&of, prompt.name());
        check.needs(&of, prompt.needs());
        if registry.prompts.get(prompt.name()).is_some() {
            check.report(&of, "there are two of this name; give one of them another with `#[prompt(name = \"..\")]`");
        }
        registry.add_prompt(prompt);
    }
    for resource in server.resources.unwrap_or_default() {
        let of = format!("resource `{}`", resource.uri());
        check.needs(&of, resource.needs());
        if !resource.uri().contains(':') {
            check.report(&of, "a URI begins with a scheme, such as `files://`");
        }
        if registry.resources.get(resource.uri()).is_some() {
            check.report(&of, "there are two at this URI");
        }
        registry.add_resource(resource, &mut mistakes);
        mistakes.drain(..).for_each(|mistake| check.report(&of, mistake));
    }
    let seal = Seal::new(&server.info.name, &server.options.state);
    let seal = seal.map_err(|mistakes| mistakes.into_iter().for_each(|mistake| check.report("state", mistake)));
    let (Ok(seal), true) = (seal, check.found.is_empty()) else {
        return Err(WiringErrors(check.found));
    };

    registry.render(&server.options, &info_json);
    let engine = Arc::new(Engine {
        info: server.info,
        info_json,
        instructions: server.instructions,
        capabilities,
        options: server.options,
        hub: Hub::default(),
        calls: Calls::default(),
        seal: Arc::new(seal),
        registry: ArcSwap::from_pointee(registry),
        dependencies: Arc::new(server.dependencies),
    });
    cell.fill(&engine);
    Ok(engine)
}

/// Declared is what is served, and nothing else.
fn capabilities(server: &Server) -> ServerCapabilities {
    let mut capabilities = ServerCapabilities::default();
    capabilities.tools = server.tools.as_ref().map(|_| {
        let mut tools = ToolsCapability::default();
        tools.list_changed = Some(true);
        tools
    });
    capabilities.prompts = server.prompts.as_ref().map(|_| {
        let mut prompts = PromptsCapability::default();
        prompts.list_changed = Some(true);
        prompts
    });
    capabilities.resources = server.resources.as_ref().map(|_| {
        let mut resources = ResourcesCapability::default();
        resources.list_changed = Some(true);
        resources.subscribe = Some(true);
        resources
    });
    let completes = server.prompts.iter().flatten().any(completes_prompt)
        || server.resources.iter().flatten().any(completes_resource);
    capabilities.completions = completes.then(Default::default);
    capabilities.logging = Some(Default::default());
    capabilities
}
