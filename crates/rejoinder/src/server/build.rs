use std::sync::Arc;

use crate::model::{PromptsCapability, ResourcesCapability, ServerCapabilities, ToolsCapability};

use super::{
    builder::Server,
    engine::Engine,
    registry::Item,
    wiring::{BuildError, Check},
};
use crate::rounds::seal::Seal;

/// Puts a server together, or says everything that is wrong with it.
pub(super) fn build(server: Server) -> Result<Arc<Engine>, BuildError> {
    let capabilities = capabilities(&server);
    let mut check = Check::new(&server.dependencies, &server.options);
    server.tools.into_iter().flatten().for_each(|tool| check.add(Item::Tool(tool)));
    server.prompts.into_iter().flatten().for_each(|prompt| check.add(Item::Prompt(prompt)));
    server.resources.into_iter().flatten().for_each(|resource| check.add(Item::Resource(resource)));
    if server.has_unnamed_nest {
        let mistake =
            "the name is empty, so nothing would go before the names of the tools: give it one, or use `.tools(..)`";
        check.report("`nest`", mistake);
    }
    server.options.mistakes().iter().for_each(|(of, mistake)| check.report(&format!("`{of}`"), mistake));
    let seal = Seal::new(&server.info.name, &server.options.state);
    let seal = seal.map_err(|mistakes| mistakes.into_iter().for_each(|mistake| check.report("state", mistake))).ok();
    let mut registry = check.finish()?;

    registry.render(server.options.page_size);
    let seal = Arc::new(seal.expect("what is wrong with it was reported"));
    Ok(Engine::new(
        server.info,
        server.instructions,
        capabilities,
        server.options,
        seal,
        Arc::new(registry),
        server.dependencies,
    ))
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
    // Whoever may add prompts and resources later may add some with arguments to complete.
    let may_complete = server.prompts.is_some() || server.resources.is_some();
    capabilities.completions = may_complete.then(Default::default);
    capabilities.logging = Some(Default::default());
    capabilities
}
