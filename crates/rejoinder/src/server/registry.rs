//! What a server offers at one moment, by name, with its lists rendered.

use std::{
    borrow::Cow,
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use bytes::Bytes;
use indexmap::IndexMap;
use serde::Serialize;

use super::{
    CacheHints, CacheScope, ServerOptions, TargetKind,
    gates::OpenGates,
    mcp_header::ParamHeader,
    uri_template::{UriTemplate, Variables},
};
use crate::{
    call::{ArgumentErrors, SentArguments, UnknownArguments},
    graph::Gate,
    item::{ItemFunction, Prompt, Ready, Resource, Tool},
    lock,
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

/// An item, with what calling it needs.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(super) item: AnyItem,
    /// The arguments of a tool that a header mirrors.
    pub(crate) param_headers: Vec<ParamHeader>,
    /// For a resource that is a template.
    pub(super) template: Option<UriTemplate>,
}

/// No resource has a longer URI.
pub(super) const LONGEST_URI: usize = 8 * 1024;

impl Entry {
    fn list(&self) -> List {
        match self.item {
            AnyItem::Tool(_) => List::Tools,
            AnyItem::Prompt(_) => List::Prompts,
            AnyItem::Resource(_) if self.template.is_some() => List::Templates,
            AnyItem::Resource(_) => List::Resources,
        }
    }

    /// How a list shows it, as JSON.
    fn listed(&self) -> String {
        match &self.item {
            AnyItem::Tool(tool) => json(tool.record()),
            AnyItem::Prompt(prompt) => json(prompt.record()),
            AnyItem::Resource(resource) if self.template.is_some() => json(&resource.template_record()),
            AnyItem::Resource(resource) => json(&resource.record()),
        }
    }

    /// What decides whether it is there for a caller.
    pub(super) fn gates(&self) -> &[Gate] {
        &self.item.function().gates
    }

    /// How long a round of a call may take, if the item says so.
    pub(super) fn timeout(&self) -> Option<Duration> {
        self.item.function().timeout
    }

    /// What the caller must be allowed to do.
    pub(super) fn scopes(&self) -> &[String] {
        &self.item.function().scopes
    }

    /// What a reply says about the contents, if it is a resource.
    pub(super) fn contents(&self, default: CacheHints) -> Option<Contents> {
        let AnyItem::Resource(resource) = &self.item else { return None };
        let details = resource.details();
        let scope = |public| if public { CacheScope::Public } else { CacheScope::Private };
        let hints = CacheHints {
            ttl_ms: details.ttl_ms.unwrap_or(default.ttl_ms),
            // A cache that others share does not know the gate.
            scope: if self.gates().is_empty() {
                details.public.map_or(default.scope, scope)
            } else {
                CacheScope::Private
            },
        };
        Some(Contents { mime_type: details.mime_type, hints })
    }

    /// Whether every URI that matches the other template matches this one too, and its values fit here as well as there.
    fn takes_all_of(&self, other: &Self) -> bool {
        let (AnyItem::Resource(ours), AnyItem::Resource(theirs)) = (&self.item, &other.item) else { return false };
        let (Some(template), Some(others)) = (&self.template, &other.template) else { return false };
        if !self.gates().is_empty() {
            return false;
        }
        let same_places = template.alike(others);
        same_places
            .is_some_and(|variables| variables.into_iter().all(|(our, their)| ours.takes_all_of(our, theirs, their)))
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

impl Candidate {
    /// Reads the arguments; `None` if they are not of the form that the item takes.
    pub(super) fn read(&self, arguments: &str, options: &ServerOptions) -> Option<Result<Ready, ArgumentErrors>> {
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
        Some(self.entry.item.function().read(&sent, unknown))
    }
}

/// Items in the order in which they were added.
type Shelf = IndexMap<String, Arc<Entry>>;

/// Everything that a server offers. A change makes another one, so a call never sees half a change.
#[derive(Debug, Clone, Default)]
pub(super) struct Registry {
    /// The items of each [`TargetKind`].
    shelves: [Shelf; 3],
    /// The pages of each [`List`] that no gate takes part in.
    lists: [Pages; 4],
    /// Each [`List`] that gates take part in.
    gated: [Option<Arc<GatedList>>; 4],
    /// The gates of each [`TargetKind`], each once.
    gates: [Vec<Gate>; 3],
}

/// The pages of a list, each under the cursor that leads to it.
type Pages = Vec<(Cursor, Page)>;

/// The name of the item before a page, in base64; empty before the first.
type Cursor = String;

/// A page of a list.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    /// The members of the result that both eras share, as JSON without braces: the items and the cursor.
    pub(crate) members: Bytes,
    /// Whether gates took part, so that it is for this caller only.
    pub(crate) is_gated: bool,
}

/// A list that depends on the caller.
#[derive(Debug)]
struct GatedList {
    items: Vec<ListedItem>,
    kept: Mutex<KeptPages>,
}

/// The pages for callers with the same verdicts.
#[derive(Debug, Default)]
struct KeptPages {
    pages: HashMap<Box<[bool]>, Arc<Pages>>,
    /// How long all of them are.
    bytes: usize,
}

#[derive(Debug)]
struct ListedItem {
    entry: Arc<Entry>,
    /// How the list shows it.
    json: String,
}

/// An item of a list, and how the list shows it if that has been written already.
type Listed<'a> = (&'a Entry, Option<&'a str>);

impl GatedList {
    /// How many bytes of pages are kept.
    const MOST_KEPT: usize = 16 * 1024 * 1024;

    /// The items that are there for a caller.
    fn visible<'a>(&'a self, open: &'a OpenGates) -> impl Iterator<Item = Listed<'a>> {
        let visible = self.items.iter().filter(|item| open.all(item.entry.gates()));
        visible.map(|item| (&*item.entry, Some(&*item.json)))
    }

    /// The pages for a caller, `pattern` being the verdicts of all gates.
    fn pages(&self, list: List, open: &OpenGates, pattern: Box<[bool]>, size: usize) -> Arc<Pages> {
        if let Some(pages) = lock(&self.kept).pages.get(&pattern) {
            return Arc::clone(pages);
        }
        let pages = Arc::new(pages(list, self.visible(open), size, true));
        let bytes: usize = pages.iter().map(|(cursor, page)| cursor.len() + page.members.len()).sum();
        let mut kept = lock(&self.kept);
        if kept.bytes + bytes > Self::MOST_KEPT {
            *kept = KeptPages::default();
        }
        if bytes <= Self::MOST_KEPT && kept.pages.insert(pattern, Arc::clone(&pages)).is_none() {
            kept.bytes += bytes;
        }
        pages
    }
}

/// One of the four lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum List {
    Tools,
    Prompts,
    Resources,
    Templates,
}

impl List {
    const ALL: [Self; 4] = [Self::Tools, Self::Prompts, Self::Resources, Self::Templates];

    pub(super) fn kind(self) -> TargetKind {
        match self {
            Self::Tools => TargetKind::Tool,
            Self::Prompts => TargetKind::Prompt,
            Self::Resources | Self::Templates => TargetKind::Resource,
        }
    }

    /// The method that returns it.
    pub(super) fn method(self) -> &'static str {
        match self {
            Self::Tools => "tools/list",
            Self::Prompts => "prompts/list",
            Self::Resources => "resources/list",
            Self::Templates => "resources/templates/list",
        }
    }

    /// The member of the result that holds the items.
    fn field(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
        }
    }
}

impl Registry {
    /// All items.
    pub(super) fn items(&self) -> impl Iterator<Item = &AnyItem> {
        self.shelves.iter().flat_map(IndexMap::values).map(|entry| &entry.item)
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
        other.shelves.iter().flat_map(IndexMap::values).for_each(|entry| self.add(Arc::clone(entry)));
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
        let exact = exact.map(|entry| Candidate { entry: Arc::clone(entry), variables: Vec::new() });
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

    /// Whether a list depends on the caller.
    pub(super) fn is_gated(&self, list: List) -> bool {
        self.gated[list as usize].is_some()
    }

    /// The names of the items behind a gate.
    pub(super) fn behind(&self, kind: TargetKind, gate: &Gate) -> impl Iterator<Item = &str> {
        let id = gate.type_id();
        let entries = self.shelves[kind as usize].iter();
        let behind = entries.filter(move |(_, entry)| entry.gates().iter().any(|gate| gate.type_id() == id));
        behind.map(|(name, _)| name.as_str())
    }

    /// Two templates, of which one has that URI and the second can never match: the second, and the first.
    pub(super) fn hidden(&self, uri: &str) -> Option<(&str, &str)> {
        let resources = &self.shelves[TargetKind::Resource as usize];
        let (at, uri, entry) = resources.get_full(uri)?;
        resources.iter().enumerate().find_map(|(other_at, (other_uri, other))| match other_at.cmp(&at) {
            std::cmp::Ordering::Less => other.takes_all_of(entry).then_some((&**uri, &**other_uri)),
            std::cmp::Ordering::Equal => None,
            std::cmp::Ordering::Greater => entry.takes_all_of(other).then_some((&**other_uri, &**uri)),
        })
    }

    /// The entries of a list.
    fn listed(&self, list: List) -> impl Iterator<Item = &Arc<Entry>> {
        self.shelves[list.kind() as usize].values().filter(move |entry| entry.list() == list)
    }

    /// Renders the lists: once for each change, not once for each request.
    pub(super) fn render(&mut self, page_size: usize) {
        self.gates = Default::default();
        for entry in self.shelves.iter().flat_map(IndexMap::values) {
            let known = &mut self.gates[entry.item.kind() as usize];
            for gate in entry.gates() {
                if !known.iter().any(|other| other.type_id() == gate.type_id()) {
                    known.push(*gate);
                }
            }
        }
        self.gated = List::ALL.map(|list| {
            let is_gated = self.listed(list).any(|entry| !entry.gates().is_empty());
            let item = |entry: &Arc<Entry>| ListedItem { entry: Arc::clone(entry), json: entry.listed() };
            is_gated
                .then(|| Arc::new(GatedList { items: self.listed(list).map(item).collect(), kept: Mutex::default() }))
        });
        self.lists = List::ALL.map(|list| match self.gated[list as usize] {
            Some(_) => Vec::new(),
            None => pages(list, self.listed(list).map(|entry| (&**entry, None)), page_size, false),
        });
    }

    /// A page of a list; `None` if there is no such cursor.
    ///
    /// A cursor names an item, so it stays valid while other items are added and removed; then its page is made. An item that
    /// is not there for the caller is like one that does not exist.
    pub(super) fn page(&self, list: List, cursor: Option<&str>, open: &OpenGates, page_size: usize) -> Option<Page> {
        match &self.gated[list as usize] {
            None => {
                let kept = &self.lists[list as usize];
                page(list, cursor, kept, || self.listed(list).map(|entry| (&**entry, None)), page_size, false)
            }
            Some(gated) => {
                let pattern = self.gates(list.kind()).iter().map(|gate| open.contains(gate)).collect();
                let kept = gated.pages(list, open, pattern, page_size);
                page(list, cursor, &kept, || gated.visible(open), page_size, true)
            }
        }
    }
}

/// The page of a cursor: one of those that are made, or one from the item on that the cursor names.
fn page<'a, E: Iterator<Item = Listed<'a>>>(
    list: List,
    cursor: Option<&str>,
    made: &Pages,
    entries: impl Fn() -> E,
    size: usize,
    is_gated: bool,
) -> Option<Page> {
    let find = |start: &str| made.iter().find(|(cursor, _)| cursor == start).map(|(_, page)| page.clone());
    let Some(cursor) = cursor else { return find("") };
    if let Some(page) = find(cursor).filter(|_| !cursor.is_empty()) {
        return Some(page);
    }
    let after = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
    let mut rest = entries();
    rest.find(|(entry, _)| entry.item.name() == after)?;
    pages(list, rest.take(size.max(1) + 1), size, is_gated).into_iter().next().map(|(_, page)| page)
}

/// The pages of a list, each under the cursor that leads to it.
fn pages<'a>(list: List, entries: impl Iterator<Item = Listed<'a>>, size: usize, is_gated: bool) -> Pages {
    let entries: Vec<_> = entries.collect();
    let mut chunks = entries.chunks(size.max(1)).peekable();
    let (mut pages, mut cursor) = (Vec::new(), String::new());
    loop {
        let chunk = chunks.next().unwrap_or_default();
        let item = |(entry, json): &Listed<'a>| json.map_or_else(|| entry.listed().into(), Cow::Borrowed);
        let items = chunk.iter().map(item).collect::<Vec<_>>().join(",");
        let items = format!("\"{}\":[{items}]", list.field());
        match (chunks.peek(), chunk.last()) {
            (Some(_), Some((last, _))) => {
                let next = URL_SAFE_NO_PAD.encode(last.item.name());
                let members = format!("{items},\"nextCursor\":\"{next}\"").into();
                pages.push((cursor, Page { members, is_gated }));
                cursor = next;
            }
            _ => {
                pages.push((cursor, Page { members: items.into(), is_gated }));
                return pages;
            }
        }
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
    fn there_is_a_limit_to_what_is_compared() {
        let long = "x".repeat(128);
        assert_eq!(similar(&long, [&*format!("{long}y")].into_iter()), Some(&*format!("{long}y")));
        assert_eq!(similar(&format!("{long}x"), [&*long].into_iter()), None);
        let far = std::iter::repeat_n("other", 1000).chain(["add"]);
        assert_eq!(similar("ad", far), None);
    }
}
