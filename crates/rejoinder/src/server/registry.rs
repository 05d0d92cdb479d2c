use std::sync::Arc;

use crate::{
    call::{Texts, Unknown},
    graph::Edge,
    item::{Prompt, Ready, Resource, Tool},
    model,
};

use super::{
    CacheHints, CacheScope,
    mcp_header::{ParamHeader, param_headers},
    page::{Page, Pages},
    shelf::Shelf,
    uri_template::UriTemplate,
};

/// A tool, with what calling it needs to know.
#[derive(Debug)]
pub(crate) struct ToolEntry {
    pub(crate) tool: Tool,
    pub(crate) param_headers: Vec<ParamHeader>,
}

/// A prompt.
#[derive(Debug)]
pub(crate) struct PromptEntry {
    pub(crate) prompt: Prompt,
}

/// A resource; with a template, many.
#[derive(Debug)]
pub(crate) struct ResourceEntry {
    pub(crate) resource: Resource,
    template: Option<UriTemplate>,
}

/// A URI longer than this is nobody's.
pub(super) const LONGEST_URI: usize = 8 * 1024;

impl ResourceEntry {
    /// The variables of the URI, if it is this resource's.
    fn matches(&self, uri: &str) -> Option<Vec<(&str, String)>> {
        self.template.as_ref()?.matches(uri)
    }

    /// For how long the contents may be kept.
    pub(crate) fn hints(&self, default: CacheHints) -> CacheHints {
        let details = self.resource.details();
        let scope = |public| if public { CacheScope::Public } else { CacheScope::Private };
        CacheHints {
            ttl_ms: details.ttl_ms.unwrap_or(default.ttl_ms),
            scope: details.public.map_or(default.scope, scope),
        }
    }

    /// Whether every URI of the other template is one of this one's too, and its values fit here as well as there.
    fn takes_all_of(&self, other: &Self) -> bool {
        let (Some(template), Some(others)) = (&self.template, &other.template) else { return false };
        template.alike(others).is_some_and(|variables| {
            variables.into_iter().all(|(ours, theirs)| self.resource.takes_all_of(ours, &other.resource, theirs))
        })
    }

    /// Whether the resource is a template of many.
    pub(super) fn is_template(&self) -> bool {
        self.template.is_some()
    }
}

/// Everything a server offers at one moment. Changing it makes another one, so a call never sees half a change.
#[derive(Debug, Clone, Default)]
pub(super) struct Registry {
    pub(super) tools: Shelf<ToolEntry>,
    pub(super) prompts: Shelf<PromptEntry>,
    pub(super) resources: Shelf<ResourceEntry>,
    lists: Lists,
}

#[derive(Debug, Clone, Default)]
struct Lists {
    tools: Pages,
    prompts: Pages,
    resources: Pages,
    templates: Pages,
}

/// One of the four lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum List {
    Tools,
    Prompts,
    Resources,
    Templates,
}

impl Registry {
    /// The resolvers that each of them needs.
    pub(super) fn edges(&self) -> impl Iterator<Item = &[Edge]> {
        let tools = self.tools.iter().map(|(_, entry)| entry.tool.edges());
        let prompts = self.prompts.iter().map(|(_, entry)| entry.prompt.node().edges);
        let resources = self.resources.iter().map(|(_, entry)| entry.resource.node().edges);
        tools.chain(prompts).chain(resources)
    }

    /// Adds a tool. The mistakes in it are the caller's to report.
    pub(super) fn add_tool(&mut self, tool: Tool, mistakes: &mut Vec<String>) {
        let param_headers = param_headers(&tool.record().input_schema, mistakes);
        let name = tool.name().into();
        self.tools.insert(name, ToolEntry { tool, param_headers });
    }

    pub(super) fn add_prompt(&mut self, prompt: Prompt) {
        self.prompts.insert(prompt.name().into(), PromptEntry { prompt });
    }

    pub(super) fn add_resource(&mut self, resource: Resource, mistakes: &mut Vec<String>) {
        let uri = resource.uri().to_owned();
        let template = if uri.contains(['{', '}']) {
            match UriTemplate::parse(&uri) {
                Ok(template) => Some(template),
                Err(mistake) => return mistakes.push(mistake),
            }
        } else {
            None
        };
        check_arguments(&resource, template.as_ref(), mistakes);
        self.resources.insert(uri.into(), ResourceEntry { resource, template });
    }

    /// Adds everything that another one has; `false` if it has nothing.
    pub(super) fn extend(&mut self, other: &Self) -> bool {
        self.tools.extend(&other.tools);
        self.prompts.extend(&other.prompts);
        self.resources.extend(&other.resources);
        other.tools.iter().len() + other.prompts.iter().len() + other.resources.iter().len() > 0
    }

    /// Two templates, one of which is that one, where the first leaves nothing to the second: the second, and the first.
    pub(super) fn hidden(&self, uri: &str) -> Option<(&str, &str)> {
        let entry = self.resources.get(uri).filter(|entry| entry.is_template())?;
        let mut is_before = true;
        self.resources.iter().find_map(|(other_uri, other)| {
            if other_uri == uri {
                is_before = false;
                return None;
            }
            if is_before {
                other.takes_all_of(entry).then_some((entry.resource.uri(), other_uri))
            } else {
                entry.takes_all_of(other).then_some((other_uri, entry.resource.uri()))
            }
        })
    }

    /// Renders the lists: once for each change, not once for each request.
    pub(super) fn render(&mut self, page_size: usize) {
        self.lists = Lists {
            tools: Pages::render("tools", self.tool_items(), page_size),
            prompts: Pages::render("prompts", self.prompt_items(), page_size),
            resources: Pages::render("resources", self.static_resources(), page_size),
            templates: Pages::render("resourceTemplates", self.templates(), page_size),
        };
    }

    /// A page of a list: one of those that are kept, or else one that is made.
    pub(super) fn page(&self, list: List, cursor: Option<&str>, page_size: usize) -> Option<Page> {
        let kept = match list {
            List::Tools => &self.lists.tools,
            List::Prompts => &self.lists.prompts,
            List::Resources => &self.lists.resources,
            List::Templates => &self.lists.templates,
        };
        if let Some(page) = kept.get(cursor) {
            return Some(page);
        }
        let cursor = cursor?;
        match list {
            List::Tools => Pages::render_after("tools", self.tool_items(), cursor, page_size),
            List::Prompts => Pages::render_after("prompts", self.prompt_items(), cursor, page_size),
            List::Resources => Pages::render_after("resources", self.static_resources(), cursor, page_size),
            List::Templates => Pages::render_after("resourceTemplates", self.templates(), cursor, page_size),
        }
    }

    fn tool_items(&self) -> impl Iterator<Item = (&str, &model::Tool)> {
        self.tools.iter().map(|(name, entry)| (name, entry.tool.record()))
    }

    fn prompt_items(&self) -> impl Iterator<Item = (&str, &model::Prompt)> {
        self.prompts.iter().map(|(name, entry)| (name, entry.prompt.record()))
    }

    fn static_resources(&self) -> Vec<(&str, model::Resource)> {
        let entries = self.resources.iter().filter(|(_, entry)| !entry.is_template());
        entries.map(|(uri, entry)| (uri, entry.resource.record())).collect()
    }

    fn templates(&self) -> Vec<(&str, model::ResourceTemplate)> {
        let entries = self.resources.iter().filter(|(_, entry)| entry.is_template());
        entries.map(|(uri, entry)| (uri, entry.resource.template_record())).collect()
    }

    /// The resources whose URI or template matches: a resource wins over a template; templates in the order of adding.
    pub(super) fn candidates(&self, uri: &str) -> Vec<Candidate> {
        if uri.len() > LONGEST_URI {
            return Vec::new();
        }
        if let Some(entry) = self.resources.get(uri).filter(|entry| !entry.is_template()) {
            return vec![Candidate { entry: Arc::clone(entry), values: Vec::new() }];
        }
        let matching = self.resources.iter().filter_map(|(_, entry)| {
            let values = entry.matches(uri)?.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
            Some(Candidate { entry: Arc::clone(entry), values })
        });
        matching.collect()
    }
}

/// A resource whose URI or template matches.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) entry: Arc<ResourceEntry>,
    /// The values of the template's variables.
    values: Vec<(String, String)>,
}

impl Candidate {
    /// Reads the values. One that does not fit its parameter's type means that the template does not have this URI.
    pub(super) fn read(&self) -> Option<Ready> {
        let texts: Texts<'_> = self.values.iter().map(|(name, value)| (&**name, &**value)).collect();
        self.entry.resource.reader().read_texts(&texts, Unknown::Refused).ok()
    }
}

/// Each argument of a resource's function must be a variable of its template, and the other way round.
fn check_arguments(resource: &Resource, template: Option<&UriTemplate>, mistakes: &mut Vec<String>) {
    let variables: Vec<&str> = template.map(|template| template.variables().collect()).unwrap_or_default();
    for (name, required) in resource.arguments() {
        if !variables.contains(&name.as_str()) {
            mistakes.push(format!("its function takes `{name}`, which is no variable of the URI"));
        } else if *required && template.is_some_and(|template| template.is_optional(name)) {
            mistakes.push(format!(
                "`{name}` may be absent from the URI, so its parameter must be an `Option` or have a default"
            ));
        }
    }
    for variable in variables {
        if !resource.arguments().iter().any(|(name, _)| name == variable) {
            mistakes.push(format!("the URI's variable `{variable}` is no parameter of its function"));
        }
    }
}
