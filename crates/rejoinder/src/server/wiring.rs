//! The checks that a server passes when it is built, and when items are added to it.

use std::{any::TypeId, collections::HashSet, fmt, sync::Arc};

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::{
    ServerOptions, TargetKind,
    mcp_header::param_headers,
    registry::{AnyItem, Entry, Registry},
    tasks::exposed_header,
    uri_template::UriTemplate,
};
use crate::{
    argument::UnknownArguments,
    auth::{Principal, is_scope},
    call::Dependencies,
    graph::{bad_forms, below},
    inject::SessionState,
    item::{ItemArgument, Resource},
};

/// One problem of a server: in a [`BuildError`] one that keeps it from being built, otherwise a warning of
/// [`Server::check`](super::Server::check).
///
/// ```
/// use rejoinder::prelude::*;
///
/// #[tool]
/// async fn greet() {}
///
/// let error = Server::new("greeter", "1.0.0").nest("two words", tools![greet]).check().unwrap_err();
/// assert_eq!(error.0[0].subject, "tool `two words_greet`");
/// assert_eq!(error.0[0].message, "a name must be 1 to 128 characters: letters, digits, `_`, `-` or `.`");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildProblem {
    /// What has the problem: ``tool `add` ``.
    pub subject: String,
    /// What is wrong, and what to do.
    pub message: String,
}

impl fmt::Display for BuildProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.subject, self.message)
    }
}

/// Every problem that keeps a server from being built.
///
/// ```
/// use rejoinder::prelude::*;
///
/// struct Database;
///
/// #[tool]
/// async fn count(database: Dep<Database>) -> u64 { 0 }
///
/// let error = Server::new("shop", "1.0.0").tools(tools![count]).nest("", []).build().unwrap_err();
/// assert_eq!(error.0.len(), 2);
/// println!("{error}"); // each on its own line
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct BuildError(pub Vec<BuildProblem>);

/// The same text as `Display`, because `unwrap()` shows this.
impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the server cannot be built:{}", self.list())
    }
}

impl BuildError {
    /// Each problem, on its own line.
    pub(super) fn list(&self) -> String {
        self.0.iter().map(|problem| format!("\n  {problem}")).collect()
    }
}

impl std::error::Error for BuildError {}

/// Collects items and their problems.
pub(super) struct WiringCheck<'a> {
    dependencies: &'a Dependencies,
    options: &'a ServerOptions,
    registry: Registry,
    problems: Vec<BuildProblem>,
    warnings: Vec<BuildProblem>,
}

impl<'a> WiringCheck<'a> {
    pub(super) fn new(dependencies: &'a Dependencies, options: &'a ServerOptions) -> Self {
        Self { dependencies, options, registry: Registry::default(), problems: Vec::new(), warnings: Vec::new() }
    }

    pub(super) fn add(&mut self, mut item: AnyItem) {
        let subject = subject(&item);
        let mut messages = Vec::new();
        if item.kind() != TargetKind::Resource {
            check_name(item.name(), &mut messages);
        }
        let missing = self.needs(&item, &mut messages);
        messages.extend(item.function().gates.iter().filter_map(|gate| {
            gate.mistake().map(|mistake| format!("the gate `{}` cannot be used: {mistake}", gate.shown()))
        }));
        messages.extend(bad_forms(&item.function().all_edges()));
        messages.extend(item.function().problems.iter().cloned());
        let not_scopes = item.function().scopes.iter().filter(|scope| !is_scope(scope));
        messages.extend(not_scopes.map(|scope| format!("`{scope}` is not a scope: it has no spaces and no quotes")));
        if self.registry.get(item.kind(), item.name()).is_some() {
            messages.push(match item.kind() {
                TargetKind::Tool => {
                    "another tool has the same name; rename one with `#[tool(name = \"..\")]`, or use `Server::nest`"
                        .into()
                }
                TargetKind::Prompt => {
                    "another prompt has the same name; rename one with `#[prompt(name = \"..\")]`".into()
                }
                TargetKind::Resource => "another resource has the same URI; change one of them".into(),
            });
        }
        let (mut headers, mut template) = (Vec::new(), None);
        match &mut item {
            AnyItem::Tool(tool) => {
                messages.extend(tool.mistakes());
                if self.options.unknown_arguments == UnknownArguments::Ignored {
                    tool.allow_unknown_arguments();
                }
                messages.extend(tool.compile());
                headers = param_headers(&tool.record().input_schema, &mut messages);
            }
            AnyItem::Prompt(_) => {}
            AnyItem::Resource(resource) => template = check_uri(resource, &mut messages),
        }
        let problem = |message| BuildProblem { subject: subject.clone(), message };
        self.problems.extend(messages.into_iter().map(problem));
        self.warnings.extend(warnings(&item).into_iter().chain(missing).map(problem));
        self.registry.add(Arc::new(Entry::new(item, headers, template)));
    }

    pub(super) fn report(&mut self, subject: &str, message: impl Into<String>) {
        self.problems.push(BuildProblem { subject: subject.to_owned(), message: message.into() });
    }

    /// Warns of tools whose tasks would be written down with headers in plain text: such a server does not start.
    pub(super) fn warn_of_exposed_headers(&mut self) {
        let exposed = self.registry.items().filter_map(|item| {
            exposed_header(item.name(), item.function()).map(|message| BuildProblem { subject: subject(item), message })
        });
        self.warnings.extend(exposed);
    }

    /// The items and the warnings, unless there is a problem.
    pub(super) fn finish(mut self) -> Result<(Registry, Vec<BuildProblem>), BuildError> {
        self.problems.extend(hidden(&self.registry));
        self.warnings.extend(forgotten(&self.registry));
        self.warnings.extend(unshared_states(&self.registry));
        self.registry.index();
        if self.problems.is_empty() { Ok((self.registry, self.warnings)) } else { Err(BuildError(self.problems)) }
    }

    /// Checks that every service that a parameter needs was provided. Returns warnings if it needs a caller or a session, and
    /// this server has none.
    fn needs(&self, item: &AnyItem, messages: &mut Vec<String>) -> Vec<String> {
        let mut warnings = Vec::new();
        let scope = item.function().scopes.first().map(|scope| format!("the scope `{scope}`"));
        let mut needs_caller = scope.filter(|_| !self.options.can_identify());
        for (parameter, need) in item.function().needs() {
            if need.is_state || self.dependencies.contains(need.id) {
                continue;
            }
            let owner = need.of.map(|(word, name)| format!(" of {word} `{name}`")).unwrap_or_default();
            if need.id == TypeId::of::<Principal>() {
                if !self.options.can_identify() {
                    needs_caller = Some(format!("parameter `{parameter}`{owner}"));
                }
                continue;
            }
            if need.id == TypeId::of::<SessionState<()>>() {
                if !self.options.sessions {
                    warnings.push(format!(
                        "parameter `{parameter}`{owner} needs a session, and `Server::stateless_only` turns sessions off, so \
                         every call fails: make it an `Option`, or remove `stateless_only`"
                    ));
                }
                continue;
            }
            let name = need.name;
            let remedy = if self.dependencies.contains(need.shared) {
                "an `Arc` of it was provided with `.provide(..)`; use `.provide_arc(..)`".to_owned()
            } else if let Some(inner) = name.strip_prefix("alloc::sync::Arc<").and_then(|rest| rest.strip_suffix('>')) {
                format!("a `Dep` is shared already; take a `Dep<{inner}>`")
            } else if name.starts_with("dyn ") {
                format!("provide an `Arc<{name}>` with `.provide_arc(..)`")
            } else {
                "provide one with `.provide(..)`, not a `Result` or a future of it".to_owned()
            };
            messages.push(format!("parameter `{parameter}`{owner} needs a `{name}`: {remedy}"));
        }
        warnings.extend(needs_caller.map(|what| {
            format!(
                "{what} needs a caller, and nothing in this server identifies one: use `http::Config::auth`, \
                 `Server::principal` or `Server::stdio_principal`, or a layer that adds a `Principal` to the extensions of \
                 the HTTP request"
            )
        }));
        warnings
    }
}

fn subject(item: &AnyItem) -> String {
    format!("{} `{}`", item.kind().noun(), item.name())
}

fn check_name(name: &str, messages: &mut Vec<String>) {
    let legal = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    if name.is_empty() || name.len() > 128 || !name.chars().all(legal) {
        messages.push("a name must be 1 to 128 characters: letters, digits, `_`, `-` or `.`".to_owned());
    }
}

/// What clients or models may not understand.
fn warnings(item: &AnyItem) -> Vec<String> {
    let mut warnings = Vec::new();
    let has_description = match item {
        AnyItem::Tool(tool) => tool.record().description.is_some(),
        AnyItem::Prompt(prompt) => prompt.record().description.is_some(),
        AnyItem::Resource(resource) => resource.details().description.is_some(),
    };
    if !has_description {
        warnings.push("it has no description; write a doc comment, so that a model knows what it is for".to_owned());
    }
    let AnyItem::Tool(tool) = item else { return warnings };
    if !suits_models(tool.name(), "_-") {
        warnings.push(
            "model APIs refuse this name; use at most 64 letters, digits, `_` and `-`, and begin with a letter or `_`"
                .to_owned(),
        );
    }
    let properties = tool.record().input_schema.get("properties").and_then(Value::as_object);
    for name in properties.into_iter().flat_map(Map::keys).filter(|name| !suits_models(name, "_")) {
        warnings.push(format!(
            "model APIs refuse the argument name `{name}`; use at most 64 letters, digits and `_`, and begin with a letter \
             or `_`"
        ));
    }
    let hints = tool.record().annotations.as_ref();
    if hints.is_some_and(|hints| hints.read_only_hint == Some(true) && hints.destructive_hint == Some(true)) {
        warnings.push("it is both `read_only` and `destructive`; remove one of them".to_owned());
    }
    warnings
}

/// The arguments that have the name of a resolver which their function does not use: a forgotten `#[resolve]` lets the model
/// decide what the user should.
fn forgotten(registry: &Registry) -> Vec<BuildProblem> {
    let names = |item: &AnyItem| -> HashSet<&str> {
        below(&item.function().all_edges()).iter().map(|it| it.node.name).collect()
    };
    let known: HashSet<&str> = registry.items().flat_map(names).collect();
    let mut problems = Vec::new();
    for item in registry.items() {
        let used = names(item);
        let arguments = item.function().arguments.iter().map(|argument| argument.name);
        for name in arguments.filter(|name| known.contains(name) && !used.contains(name)) {
            let message = format!(
                "the model supplies the argument `{name}`, which has the name of a resolver; write `#[resolve({name})]` \
                 before the parameter, or rename it"
            );
            problems.push(BuildProblem { subject: subject(item), message });
        }
    }
    problems
}

/// The states that one function alone takes. It shares them with nobody, so it may mean a value that lasts longer than a call.
fn unshared_states(registry: &Registry) -> Vec<BuildProblem> {
    // Who takes each state first, and whether anything else in a call may have it.
    let mut states: IndexMap<TypeId, (BuildProblem, bool)> = IndexMap::new();
    for item in registry.items() {
        let (needs, may_share) = (item.function().needs(), item.function().may_share_states());
        let taken: Vec<_> = needs.iter().filter(|(_, need)| need.is_state).collect();
        for (parameter, need) in &taken {
            let subject = need.of.map_or_else(|| subject(item), |(word, name)| format!("{word} `{name}`"));
            let message = format!(
                "no other function takes the state of parameter `{parameter}`, a `{}`, and it is a new one in each call: for \
                 a value that lasts, provide it and take a `Dep`, or take a `SessionState`; otherwise use a variable",
                need.name
            );
            let times = taken.iter().filter(|(_, other)| other.id == need.id).count();
            let (first, is_shared) =
                states.entry(need.id).or_insert_with(|| (BuildProblem { subject: subject.clone(), message }, false));
            *is_shared |= may_share || times > 1 || first.subject != subject;
        }
    }
    states.into_values().filter_map(|(problem, is_shared)| (!is_shared).then_some(problem)).collect()
}

/// Whether the APIs of OpenAI, Anthropic and Google accept a name that may have these signs beside letters and digits.
fn suits_models(name: &str, signs: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.len() <= 64
        && name.chars().all(|c| c.is_ascii_alphanumeric() || signs.contains(c))
}

/// The template of a resource, if its URI is one. The arguments of the function must be the variables of the template.
fn check_uri(resource: &Resource, messages: &mut Vec<String>) -> Option<UriTemplate> {
    let uri = resource.uri();
    if !uri.contains(':') {
        messages.push("a URI must begin with a scheme, such as `files://`".to_owned());
    }
    let parsed = uri.contains(['{', '}']).then(|| UriTemplate::parse(uri)).transpose();
    let template = parsed.map_err(|message| messages.push(message)).ok()?;
    let variables: Vec<&str> = template.iter().flat_map(UriTemplate::variables).collect();
    for ItemArgument { name, is_required, .. } in &resource.function.arguments {
        if !variables.contains(name) {
            messages.push(format!("parameter `{name}` is not a variable of the URI; add `{{{name}}}` to the URI"));
        } else if !*is_required && template.as_ref().is_some_and(|template| !template.is_optional(name)) {
            messages.push(format!(
                "`{name}` is always in the URI; make its parameter neither an `Option` nor give it a default, or write \
                 `{{?{name}}}` for a variable that may be absent"
            ));
        } else if *is_required && template.as_ref().is_some_and(|template| template.is_optional(name)) {
            messages.push(format!(
                "`{name}` may be absent from the URI; make its parameter an `Option` or give it a default"
            ));
        }
    }
    for variable in variables {
        if resource.function.argument(variable).is_none() {
            messages
                .push(format!("the URI has a variable `{variable}`, but the function has no such argument; add it"));
        }
    }
    template
}

/// The templates that can never match.
pub(super) fn hidden(registry: &Registry) -> Vec<BuildProblem> {
    let entries: Vec<_> = registry.entries().filter(|entry| entry.template.is_some()).collect();
    let problem = |(index, entry): (usize, &&Arc<Entry>)| {
        let hiding = entries[..index].iter().find(|before| before.takes_all_of(entry))?.item.name();
        let message = format!(
            "it can never match: every URI it matches is matched by `{hiding}`, which was added first; change one of the two"
        );
        Some(BuildProblem { subject: subject(&entry.item), message })
    };
    entries.iter().enumerate().filter_map(problem).collect()
}
