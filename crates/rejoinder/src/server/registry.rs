//! What a server offers at one moment, by name, with its lists rendered.

use std::{
    any::TypeId,
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use bytes::Bytes;
use indexmap::IndexMap;
use serde::Serialize;

use super::{
    CacheHints, ServerOptions, TargetKind,
    gates::OpenGates,
    mcp_header::ParamHeader,
    uri_template::{UriTemplate, Variables},
};
use crate::{
    argument::{ArgumentErrors, SentArguments, UnknownArguments},
    call::Call,
    error::lock,
    graph::Gate,
    item::{ItemFunction, Prompt, Resource, Tool},
    model::CacheScope,
    reply::FunctionRun,
};

/// A tool, a prompt or a resource.
#[derive(Debug, Clone)]
pub(super) enum AnyItem {
    Tool(Tool),
    Prompt(Prompt),
    Resource(Resource),
}

impl AnyItem {
    pub(super) fn kind(&self) -> TargetKind {
        match self {
            Self::Tool(_) => TargetKind::Tool,
            Self::Prompt(_) => TargetKind::Prompt,
            Self::Resource(_) => TargetKind::Resource,
        }
    }

    /// The name, or the URI or URI template.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Tool(tool) => tool.name(),
            Self::Prompt(prompt) => prompt.name(),
            Self::Resource(resource) => resource.uri(),
        }
    }

    pub(super) fn function(&self) -> &ItemFunction {
        match self {
            Self::Tool(tool) => &tool.function,
            Self::Prompt(prompt) => &prompt.function,
            Self::Resource(resource) => &resource.function,
        }
    }
}

/// An item, with what listing and calling it needs.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(super) item: AnyItem,
    /// The list that shows it, and how, as JSON.
    list: List,
    listed: String,
    /// The arguments of a tool that a header mirrors.
    pub(crate) param_headers: Vec<ParamHeader>,
    /// For a resource that is a template.
    pub(super) template: Option<UriTemplate>,
}

/// No resource has a longer URI.
pub(super) const LONGEST_URI: usize = 8 * 1024;

impl Entry {
    pub(super) fn new(item: AnyItem, param_headers: Vec<ParamHeader>, template: Option<UriTemplate>) -> Self {
        let (list, listed) = match &item {
            AnyItem::Tool(tool) => (List::Tools, json(tool.record())),
            AnyItem::Prompt(prompt) => (List::Prompts, json(prompt.record())),
            AnyItem::Resource(resource) if template.is_some() => (List::Templates, json(&resource.template_record())),
            AnyItem::Resource(resource) => (List::Resources, json(&resource.record())),
        };
        Self { item, list, listed, param_headers, template }
    }

    /// What decides whether it is there for a caller.
    pub(super) fn gates(&self) -> &[Gate] {
        &self.item.function().gates
    }

    /// What a reply says about the contents, if it is a resource.
    pub(super) fn contents(&self, default: &CacheHints) -> Option<Contents> {
        let AnyItem::Resource(resource) = &self.item else { return None };
        let details = resource.details();
        let scope = |public| if public { CacheScope::Public } else { CacheScope::Private };
        let hints = CacheHints {
            ttl_ms: details.ttl_ms.unwrap_or(default.ttl_ms),
            // A cache that others share does not know the gate.
            scope: if self.gates().is_empty() {
                details.public.map_or_else(|| default.scope.clone(), scope)
            } else {
                CacheScope::Private
            },
        };
        Some(Contents { mime_type: details.mime_type, hints })
    }

    /// Whether it certainly takes every URI that another template takes.
    pub(super) fn takes_all_of(&self, other: &Self) -> bool {
        let texts = [TypeId::of::<String>(), TypeId::of::<Option<String>>()];
        let is_like =
            self.template.as_ref().zip(other.template.as_ref()).is_some_and(|(ours, theirs)| ours.is_like(theirs));
        let mut arguments = self.item.function().arguments.iter();
        is_like && self.gates().is_empty() && arguments.all(|it| texts.contains(&it.ty) && !it.has_rules)
    }
}

/// What a reply says about the contents of a resource.
#[derive(Debug)]
pub(crate) struct Contents {
    pub(crate) mime_type: Option<&'static str>,
    pub(crate) hints: CacheHints,
}

/// An item that a name or URI may mean.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) entry: Arc<Entry>,
    /// The values of the template's variables.
    variables: Variables,
}

impl From<&Arc<Entry>> for Candidate {
    fn from(entry: &Arc<Entry>) -> Self {
        Self { entry: Arc::clone(entry), variables: Vec::new() }
    }
}

impl Candidate {
    /// Reads the arguments of a call; `None` if they are not of the form that the item takes.
    pub(super) fn read(
        &self,
        arguments: &str,
        options: &ServerOptions,
        call: &Call,
    ) -> Option<Result<FunctionRun, ArgumentErrors>> {
        let (sent, unknown) = match self.entry.item.kind() {
            TargetKind::Tool if !arguments.starts_with('{') => return None,
            TargetKind::Tool => match SentArguments::from_json(arguments) {
                Ok(sent) => (sent, options.unknown_arguments),
                Err(error) => return Some(Err(ArgumentErrors::unreadable(&error))),
            },
            TargetKind::Prompt => (SentArguments::from_json_strings(arguments)?, options.unknown_arguments),
            TargetKind::Resource => {
                let variables = self.variables.iter().map(|(name, value)| (&**name, &**value));
                (SentArguments::from_texts(variables), UnknownArguments::Refused)
            }
        };
        Some(self.entry.item.function().read(&sent, unknown, call))
    }
}

/// Items in the order in which they were added.
type Shelf = IndexMap<String, Arc<Entry>>;

/// Everything that a server offers. A change makes another one, so a call never sees half a change.
#[derive(Debug, Clone, Default)]
pub(super) struct Registry {
    /// The items of each [`TargetKind`].
    shelves: [Shelf; 3],
    /// The gates of each [`TargetKind`], each once.
    gates: [Vec<Gate>; 3],
    /// Pages that have been made.
    kept: Arc<Mutex<HashMap<PageKey, Page>>>,
}

/// A page of a list.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    /// The members of the result that both eras share, as JSON without braces: the items and the cursor.
    pub(crate) members: Bytes,
    /// Whether gates took part, so that it is for this caller only.
    pub(crate) is_gated: bool,
    /// The members and what follows them in a reply, for each era that has asked: what is not in one piece with a large page
    /// is sent in a packet of its own.
    pub(crate) ended: Arc<[OnceLock<Bytes>; 2]>,
}

impl Page {
    /// How much memory it takes. Before an era asks, what follows the members is not known; the name and the icons of the server
    /// may be long.
    fn size(&self) -> usize {
        let ended = self.ended.iter().map(|ended| ended.get().unwrap_or(&self.members).len());
        self.members.len() + ended.sum::<usize>()
    }
}

/// A list, the verdicts of its gates, and the place of the first item.
type PageKey = (List, Box<[bool]>, usize);

/// How many bytes of pages are kept.
const MOST_KEPT: usize = 32 * 1024 * 1024;

/// One of the four lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum List {
    Tools,
    Prompts,
    Resources,
    Templates,
}

impl List {
    /// The items that it lists, its method, and the member of the result that holds the items.
    fn described(self) -> (TargetKind, &'static str, &'static str) {
        match self {
            Self::Tools => (TargetKind::Tool, "tools/list", "tools"),
            Self::Prompts => (TargetKind::Prompt, "prompts/list", "prompts"),
            Self::Resources => (TargetKind::Resource, "resources/list", "resources"),
            Self::Templates => (TargetKind::Resource, "resources/templates/list", "resourceTemplates"),
        }
    }

    pub(super) fn kind(self) -> TargetKind {
        self.described().0
    }

    pub(super) fn method(self) -> &'static str {
        self.described().1
    }
}

impl Registry {
    /// All items, in the order of adding.
    pub(super) fn entries(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.shelves.iter().flat_map(IndexMap::values)
    }

    /// The same, without what listing and calling them needs.
    pub(super) fn items(&self) -> impl Iterator<Item = &AnyItem> {
        self.entries().map(|entry| &entry.item)
    }

    /// Adds an item; one of the same name is replaced where it is.
    pub(super) fn add(&mut self, entry: Arc<Entry>) {
        self.shelves[entry.item.kind() as usize].insert(entry.item.name().to_owned(), entry);
    }

    /// Removes an item; `false` if there is none of that name.
    pub(super) fn remove(&mut self, kind: TargetKind, name: &str) -> bool {
        self.shelves[kind as usize].shift_remove(name).is_some()
    }

    /// Adds everything that another one has; `false` if it has nothing.
    pub(super) fn extend(&mut self, other: &Self) -> bool {
        other.entries().for_each(|entry| self.add(Arc::clone(entry)));
        other.items().next().is_some()
    }

    /// The item that was added under that name; for a resource, its URI or URI template.
    pub(super) fn get(&self, kind: TargetKind, name: &str) -> Option<&Arc<Entry>> {
        self.shelves[kind as usize].get(name)
    }

    /// The items that a name or URI may mean. A resource wins over templates, which come in the order of adding.
    pub(super) fn find(&self, kind: TargetKind, name: &str) -> Vec<Candidate> {
        if name.len() > LONGEST_URI {
            return Vec::new();
        }
        let exact = self.get(kind, name).filter(|entry| entry.template.is_none());
        let exact = exact.map(Candidate::from);
        // Behind a gate that is closed, it is as if only the templates existed.
        if exact.as_ref().is_some_and(|exact| exact.entry.gates().is_empty()) || kind != TargetKind::Resource {
            return Vec::from_iter(exact);
        }
        let matching = self.shelves[kind as usize].values().filter_map(|entry| {
            let variables = entry.template.as_ref()?.matches(name)?;
            Some(Candidate { entry: Arc::clone(entry), variables })
        });
        exact.into_iter().chain(matching).collect()
    }

    /// The name nearest to one that does not exist, among those that are there for the caller.
    pub(super) fn similar(&self, kind: TargetKind, name: &str, open: &OpenGates) -> Option<String> {
        if kind == TargetKind::Resource {
            return None;
        }
        let entries = self.shelves[kind as usize].iter().filter(|(_, entry)| open.all(entry.gates()));
        similar(name, entries.map(|(name, _)| name.as_str())).map(str::to_owned)
    }

    /// All gates of a kind of items, each once.
    pub(super) fn gates(&self, kind: TargetKind) -> &[Gate] {
        &self.gates[kind as usize]
    }

    /// The names of the items behind a gate.
    pub(super) fn behind(&self, kind: TargetKind, gate: &Gate) -> impl Iterator<Item = &str> {
        let id = gate.type_id();
        let entries = self.shelves[kind as usize].iter();
        let behind = entries.filter(move |(_, entry)| entry.gates().iter().any(|gate| gate.type_id() == id));
        behind.map(|(name, _)| name.as_str())
    }

    /// Notes which gates there are, once for each change, and forgets the pages of before.
    pub(super) fn index(&mut self) {
        (self.gates, self.kept) = Default::default();
        for entry in self.shelves.iter().flat_map(IndexMap::values) {
            let known = &mut self.gates[entry.item.kind() as usize];
            for gate in entry.gates() {
                if !known.iter().any(|other| other.type_id() == gate.type_id()) {
                    known.push(*gate);
                }
            }
        }
    }

    /// A page of a list; `None` if there is no such cursor.
    ///
    /// A cursor is the name of the item before the page, in base64, so it stays valid while other items are added and
    /// removed. An item that is not there for the caller is like one that does not exist.
    pub(super) fn page(&self, list: List, cursor: Option<&str>, open: &OpenGates, page_size: usize) -> Option<Page> {
        let (kind, _, field) = list.described();
        let shelf = &self.shelves[kind as usize];
        let is_listed = |entry: &&Arc<Entry>| entry.list == list && open.all(entry.gates());
        let start = match cursor {
            None => 0,
            Some(cursor) => {
                let before = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
                let (index, _, _) = shelf.get_full(&before).filter(|(_, _, entry)| is_listed(entry))?;
                index + 1
            }
        };
        let gates = self.gates(kind);
        let key = (list, gates.iter().map(|gate| open.contains(gate)).collect(), start);
        if let Some(page) = lock(&self.kept).get(&key) {
            return Some(page.clone());
        }
        let mut rest = shelf.values().skip(start).filter(is_listed);
        let entries: Vec<_> = rest.by_ref().take(page_size).collect();
        let items: Vec<_> = entries.iter().map(|entry| &*entry.listed).collect();
        let mut members = format!("\"{field}\":[{}]", items.join(","));
        if let (Some(last), Some(_)) = (entries.last(), rest.next()) {
            members += &format!(",\"nextCursor\":\"{}\"", URL_SAFE_NO_PAD.encode(last.item.name()));
        }
        let page = Page { members: members.into(), is_gated: !gates.is_empty(), ended: Arc::default() };
        let mut kept = lock(&self.kept);
        if kept.values().chain([&page]).map(Page::size).sum::<usize>() > MOST_KEPT {
            kept.clear();
        }
        if page.size() <= MOST_KEPT {
            kept.insert(key, page.clone());
        }
        Some(page)
    }
}

fn json(record: &impl Serialize) -> String {
    serde_json::to_string(record).expect("records have string keys and serialise")
}

/// The one of `known` that is nearest to `name`, unless all are far off. Names come from the client, so the work is limited.
pub(super) fn similar<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    const LONGEST_NAME: usize = 128;
    const MOST_COMPARED: usize = 1000;
    let length = name.chars().count();
    if name.len() > LONGEST_NAME {
        return None;
    }
    // A quarter of it may be wrong, but at most three characters and never all of it.
    let most = (1 + length / 4).min(3).min(length.checked_sub(1)?);
    let near = known.take(MOST_COMPARED).filter(|known| known.len().abs_diff(name.len()) <= 4 * most);
    let distances = near.map(|known| (strsim::levenshtein(name, known), known));
    distances.filter(|(distance, _)| *distance <= most).min_by_key(|(distance, _)| *distance).map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found_unless_all_are_far_off() {
        let known = ["add", "delete_folder", "delete_file", "x"];
        for (name, found) in [
            ("ad", Some("add")),
            ("Add", Some("add")),
            ("delete_foldr", Some("delete_folder")),
            ("delete-file", Some("delete_file")),
            ("delete_everything", None),
            ("y", None),
            ("", None),
            ("subtract", None),
        ] {
            assert_eq!(similar(name, known.into_iter()), found, "{name}");
        }
    }

    #[test]
    fn a_page_counts_with_what_follows_it() {
        let page = Page { members: Bytes::from_static(b"members"), is_gated: false, ended: Arc::default() };
        assert_eq!(page.size(), 3 * 7);
        page.ended[1].get_or_init(|| vec![b' '; 1000].into());
        assert_eq!(page.size(), 2 * 7 + 1000);
    }

    #[test]
    fn there_is_a_limit_to_what_is_compared() {
        let long = "x".repeat(128);
        assert_eq!(similar(&long, [&*format!("{long}y")].into_iter()), Some(&*format!("{long}y")));
        assert_eq!(similar(&format!("{long}x"), [&*long].into_iter()), None);
        let far = std::iter::repeat_n("other", 1000).chain(["add"]);
        assert_eq!(similar("ad", far), None);
    }
}
