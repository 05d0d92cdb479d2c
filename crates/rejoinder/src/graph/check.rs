//! The checks of the graph while the program compiles. They run for tools that are made at run time, too.

use super::{Edge, ItemNode, Node, NodeArgument};
use crate::inject::source;

/// What a check found: the first mistake, and the parameter to report it at.
#[derive(Debug)]
pub struct Check {
    report: Report,
    place: ErrorPlace,
    is_cyclic: bool,
}

/// What of a function is wrong.
#[derive(Debug, Clone, Copy)]
enum ErrorPlace {
    /// A parameter that no resolver fills, by its index among these.
    Argument(usize),
    /// A parameter that a resolver fills, by its index among these.
    Edge(usize),
    /// The return type.
    Returned,
}

impl Check {
    const fn new() -> Self {
        Self { report: Report::new(), place: ErrorPlace::Returned, is_cyclic: false }
    }

    /// Fails if this parameter, which no resolver fills, is wrong.
    ///
    /// # Panics
    ///
    /// If it is wrong, while the program compiles.
    #[track_caller] // so that the compiler shows the parameter, and not what is here
    pub const fn argument(&self, index: usize) {
        if let ErrorPlace::Argument(wrong) = self.place
            && wrong == index
        {
            self.report.refuse();
        }
    }

    /// Fails if this parameter, which a resolver fills, is wrong.
    ///
    /// # Panics
    ///
    /// If it is wrong, while the program compiles.
    #[track_caller]
    pub const fn edge(&self, index: usize) {
        if let ErrorPlace::Edge(wrong) = self.place
            && wrong == index
        {
            self.report.refuse();
        }
    }

    /// Fails if the return type is wrong.
    ///
    /// # Panics
    ///
    /// If it is wrong, while the program compiles.
    #[track_caller]
    pub const fn returned(&self) {
        if let ErrorPlace::Returned = self.place {
            self.report.refuse();
        }
    }

    /// Whether the trait solver can walk the graph to compare types. A cycle is reported where it is, not at the item.
    pub const fn is_sound(&self) -> bool {
        !self.is_cyclic && !self.report.failed()
    }
}

impl Node {
    /// Checks a resolver: what it takes, what it returns, and that it does not need itself.
    pub const fn check(&'static self) -> Check {
        check_resolver(self)
    }
}

impl ItemNode<'_> {
    /// Checks an item: its own parameters, the arguments that resolvers take from it by name, and that nothing else asks
    /// where it makes its rounds by hand.
    pub const fn check(&self) -> Check {
        check_item(self)
    }
}

const fn check_resolver(node: &'static Node) -> Check {
    let mut check = Check::new();
    let mut i = 0;
    while i < node.arguments.len() {
        if node.arguments[i].by_hand {
            check.place = ErrorPlace::Argument(i);
            check.report.push(
                "a resolver cannot take `Rounds`: return `Ask<T>` to ask, and take other answers with `#[resolve(..)]`",
            );
            return check;
        }
        i += 1;
    }
    if node.asks && !node.cached {
        check.report.push("a resolver that asks runs once in a round: remove `cache = false`");
        return check;
    }
    check_cycle(node, &mut check);
    check
}

/// Finds a cycle through this resolver. Only its least member reports it, so that one cycle is one error.
const fn check_cycle(start: &'static Node, check: &mut Check) {
    let mut path = Path::new();
    if !find_cycle(start, start, &mut path, &mut SeenNodes::new()) {
        return;
    }
    let mut i = 0;
    while i < path.length {
        if is_less(path.get(i), start) {
            return;
        }
        i += 1;
    }
    let first = if path.length > 1 { path.get(1) } else { start };
    let mut edge = 0;
    while start.below[edge].id != first.id {
        edge += 1;
    }
    check.place = ErrorPlace::Edge(edge);
    let report = &mut check.report;
    if path.length == 1 {
        return report.push_all(&["resolver `", start.name, "` (", start.at, ") needs itself: remove this parameter"]);
    }
    report.push("resolvers need each other in a cycle: ");
    let mut i = 0;
    while i < path.length {
        let node = path.get(i);
        report.push_all(&["`", node.name, "` (", node.at, ") -> "]);
        i += 1;
    }
    report.push_all(&["`", start.name, "`; remove one of these parameters"]);
}

const fn find_cycle(start: &'static Node, node: &'static Node, path: &mut Path, seen: &mut SeenNodes) -> bool {
    if path.length > 0 && node.id == start.id {
        return true;
    }
    if !seen.add(node) {
        return false;
    }
    path.push(node);
    let mut i = 0;
    while i < node.below.len() {
        if find_cycle(start, node.below[i], path, seen) {
            return true;
        }
        i += 1;
    }
    path.pop();
    false
}

const fn check_item(item: &ItemNode<'_>) -> Check {
    let mut check = Check::new();
    let (mut path, mut met) = (Path::new(), SeenNodes::new());
    let mut i = 0;
    while i < item.edges.len() {
        if is_cyclic(item.edges[i].node, &mut path, &mut met) {
            check.is_cyclic = true;
            return check;
        }
        i += 1;
    }
    let mut i = 0;
    while i < item.arguments.len() {
        check_argument(item, &item.arguments[i], &mut check.report);
        if check.report.failed() {
            check.place = ErrorPlace::Argument(i);
            return check;
        }
        i += 1;
    }
    let mut seen = SeenNodes::new();
    let mut i = 0;
    while i < item.edges.len() {
        check_below(item, item.edges[i].node, &mut seen, &mut check.report);
        if check.report.failed() {
            check.place = ErrorPlace::Edge(i);
            return check;
        }
        i += 1;
    }
    check
}

const fn is_cyclic(node: &'static Node, path: &mut Path, seen: &mut SeenNodes) -> bool {
    if path.contains(node) {
        return true;
    }
    if !seen.add(node) {
        return false;
    }
    path.push(node);
    let mut i = 0;
    while i < node.below.len() {
        if is_cyclic(node.below[i], path, seen) {
            return true;
        }
        i += 1;
    }
    path.pop();
    false
}

/// Checks one of the item's own parameters.
const fn check_argument(item: &ItemNode<'_>, argument: &NodeArgument<'_>, report: &mut Report) {
    let name = argument.name;
    if argument.by_hand && !item.by_hand {
        return report.push(
            "a function that takes `Rounds` returns `Reply<T>`: return one, or ask with `Context::ask` and remove `Rounds`",
        );
    }
    let Some(variables) = item.variables else { return };
    match (argument.is_argument, contains(variables, name)) {
        (true, false) => {
            report.push_all(&[
                "the URI has no variable `",
                name,
                "` for this argument: add `{",
                name,
                "}` to the URI, or `{?",
            ]);
            report.push_all(&[name, "}` if it is optional (`{&", name, "}` after another query variable)"]);
        }
        (false, true) => report.push_all(&[
            "the server supplies this parameter, but the URI has a variable `",
            name,
            "`: rename one of the two",
        ]),
        _ => {}
    }
}

const fn contains(names: &[&str], name: &str) -> bool {
    let mut i = 0;
    while i < names.len() {
        if compare(names[i], name) == 0 {
            return true;
        }
        i += 1;
    }
    false
}

/// Checks this resolver, and all that it needs, against the item.
const fn check_below(item: &ItemNode<'_>, node: &'static Node, seen: &mut SeenNodes, report: &mut Report) {
    if report.failed() || !seen.add(node) {
        return;
    }
    check_asking(item, node, report);
    let mut i = 0;
    while i < node.arguments.len() && !report.failed() {
        check_known(item, node, &node.arguments[i], report);
        i += 1;
    }
    let mut i = 0;
    while i < node.below.len() {
        check_below(item, node.below[i], seen, report);
        i += 1;
    }
}

/// Reports this resolver if it asks beside rounds that are made by hand.
pub(super) const fn check_asking(item: &ItemNode<'_>, node: &Node, report: &mut Report) {
    if item.by_hand && node.asks {
        report.push_all(&[
            item.kind,
            " `",
            item.name,
            "` makes its rounds by hand (`Rounds`, `Reply`), but resolver `",
        ]);
        report.push_all(&[node.name, "` (", node.at, ") asks too: ask in one of the two places only"]);
    }
}

/// Reports an argument that a resolver takes by name if the item does not have it.
pub(super) const fn check_known(item: &ItemNode<'_>, node: &Node, argument: &NodeArgument<'_>, report: &mut Report) {
    if !argument.is_argument || find(item.arguments, argument.name, true).is_some() {
        return;
    }
    let name = argument.name;
    report.push_all(&["resolver `", node.name, "` (", node.at, ") takes the ", item.kind, "'s argument `", name, ": "]);
    report.push_all(&[argument.written, "`, but ", item.kind, " `", item.name, "` has "]);
    if let Some(parameter) = find(item.arguments, name, false) {
        report.push_all(&[
            "`",
            name,
            ": ",
            parameter.written,
            "` from the server: take it with that type, or rename it",
        ]);
    } else if let Some(edge) = find_edge(item.edges, name) {
        report.push_all(&["`", name, ": ", edge.written, "` from resolver `", edge.node.name, "`: "]);
        // A resolver that the other one needs cannot take its value.
        if !needs(edge.node, node, &mut SeenNodes::new()) {
            let has_plain_name = edge.node.has_plain_name && compare(edge.node.module, node.module) == 0;
            let path = if has_plain_name { edge.node.name } else { ".." };
            report.push_all(&["take it with `#[resolve(", path, ")]`, or "]);
        }
        report.push("rename one of the two");
    } else {
        push_arguments(item.arguments, report);
        report.push_all(&[": add the argument to the ", item.kind, ", or use the name of the one that is meant"]);
    }
}

const fn find<'a>(arguments: &'a [NodeArgument<'a>], name: &str, is_argument: bool) -> Option<&'a NodeArgument<'a>> {
    let mut i = 0;
    while i < arguments.len() {
        if arguments[i].is_argument == is_argument && compare(arguments[i].name, name) == 0 {
            return Some(&arguments[i]);
        }
        i += 1;
    }
    None
}

const fn find_edge<'a>(edges: &'a [Edge], name: &str) -> Option<&'a Edge> {
    let mut i = 0;
    while i < edges.len() {
        if compare(edges[i].parameter, name) == 0 {
            return Some(&edges[i]);
        }
        i += 1;
    }
    None
}

/// Whether a resolver is the other one, or needs it.
const fn needs(node: &'static Node, other: &Node, seen: &mut SeenNodes) -> bool {
    if node.id == other.id {
        return true;
    }
    if !seen.add(node) {
        return false;
    }
    let mut i = 0;
    while i < node.below.len() {
        if needs(node.below[i], other, seen) {
            return true;
        }
        i += 1;
    }
    false
}

const fn push_arguments(arguments: &[NodeArgument<'_>], report: &mut Report) {
    let mut separator = "only `";
    let mut i = 0;
    while i < arguments.len() {
        if arguments[i].is_argument {
            report.push_all(&[separator, arguments[i].name, ": ", arguments[i].written, "`"]);
            separator = ", `";
        }
        i += 1;
    }
    if separator.len() == "only `".len() {
        report.push("no arguments");
    }
}

const fn is_less(a: &Node, b: &Node) -> bool {
    match compare(a.module, b.module) {
        0 => compare(a.name, b.name) < 0,
        order => order < 0,
    }
}

/// Below, at or above 0, as `a` is before, equal to or after `b`.
const fn compare(a: &str, b: &str) -> i32 {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() {
        if a[i] != b[i] {
            return a[i] as i32 - b[i] as i32;
        }
        i += 1;
    }
    (a.len() > b.len()) as i32 - (a.len() < b.len()) as i32
}

/// A sentence that is put together in constant evaluation; empty if nothing is wrong.
#[derive(Debug)]
pub(super) struct Report {
    text: [u8; Self::LONGEST],
    length: usize,
}

impl Report {
    const LONGEST: usize = 2048;

    pub(super) const fn new() -> Self {
        Self { text: [0; Self::LONGEST], length: 0 }
    }

    /// Adds a text, or as much of it as there is room for.
    const fn push(&mut self, text: &str) {
        let text = text.as_bytes();
        let mut i = 0;
        while i < text.len() && self.length < Self::LONGEST {
            self.text[self.length] = text[i];
            self.length += 1;
            i += 1;
        }
    }

    const fn push_all(&mut self, texts: &[&str]) {
        let mut i = 0;
        while i < texts.len() {
            self.push(texts[i]);
            i += 1;
        }
    }

    pub(super) const fn failed(&self) -> bool {
        self.length > 0
    }

    pub(super) const fn as_str(&self) -> &str {
        match std::str::from_utf8(self.text.split_at(self.length).0) {
            Ok(text) => text,
            Err(_) => "the resolvers do not fit together, and the reason is too long to show",
        }
    }

    /// Fails with the sentence, if there is one.
    #[track_caller]
    const fn refuse(&self) {
        if self.failed() {
            panic!("{}", self.as_str())
        }
    }
}

/// The nodes that a walk has met, for constant evaluation: open addressing on their ids, so that a walk is linear in the
/// edges.
struct SeenNodes {
    slots: [u64; Self::SLOTS],
    length: usize,
}

impl SeenNodes {
    const SLOTS: usize = 1024;
    const MOST: usize = 768;

    const fn new() -> Self {
        Self { slots: [0; Self::SLOTS], length: 0 }
    }

    /// Adds a node; returns whether it is new.
    const fn add(&mut self, node: &Node) -> bool {
        let mut i = (node.id >> 20) as usize % Self::SLOTS;
        while self.slots[i] != 0 {
            if self.slots[i] == node.id {
                return false;
            }
            i = (i + 1) % Self::SLOTS;
        }
        assert!(self.length < Self::MOST, "a function needs more than 768 resolvers");
        self.slots[i] = node.id;
        self.length += 1;
        true
    }
}

/// The nodes from where a walk began to where it is, for constant evaluation.
struct Path {
    nodes: [Option<&'static Node>; Self::LONGEST],
    length: usize,
}

impl Path {
    const LONGEST: usize = 256;

    const fn new() -> Self {
        Self { nodes: [None; Self::LONGEST], length: 0 }
    }

    const fn push(&mut self, node: &'static Node) {
        assert!(self.length < Self::LONGEST, "a chain of resolvers is longer than 256");
        self.nodes[self.length] = Some(node);
        self.length += 1;
    }

    const fn pop(&mut self) {
        self.length -= 1;
    }

    const fn get(&self, index: usize) -> &'static Node {
        match self.nodes[index] {
            Some(node) => node,
            None => panic!("the path is shorter than this"),
        }
    }

    const fn contains(&self, node: &Node) -> bool {
        let mut i = 0;
        while i < self.length {
            if self.get(i).id == node.id {
                return true;
            }
            i += 1;
        }
        false
    }
}

// Whether the arguments that resolvers take by name have the types that they have in the item is for the trait solver.

/// An item that has an argument of the name with that [id](super::NodeArgument::id).
pub trait HasArgument<const NAME: u64> {
    /// The argument's type.
    type Type;
}

/// The same type.
#[diagnostic::on_unimplemented(
    message = "the argument is a `{Self}`, but a resolver takes it as a `{T}`",
    label = "a resolver that takes the argument is reached from here",
    note = "a resolver takes an argument with the type that it has, or borrows it: `&T`, `&str` for a `String`"
)]
pub trait SameAs<T> {}

#[diagnostic::do_not_recommend]
impl<T> SameAs<T> for T {}

/// What an item has for the parameter of that name and [`source`].
///
/// It is an associated type, so that the compiler reports the two types and not how they were found.
pub trait Offers<const NAME: u64, const SOURCE: u8> {
    /// The type of its argument, if the parameter, a `T`, is one.
    type Type<T>;
}

impl<A: HasArgument<NAME>, const NAME: u64> Offers<NAME, { source::ARGUMENT }> for A {
    type Type<T> = A::Type;
}

impl<A, const NAME: u64> Offers<NAME, { source::INJECTED }> for A {
    type Type<T> = T;
}

/// A resolver which, with all that it needs, finds its arguments in the item `A`.
#[diagnostic::on_unimplemented(
    message = "`#[resolve(..)]` names a function that is not a resolver",
    label = "write `#[resolver]` before this function"
)]
pub trait FitsIn<A> {}

/// [`FitsIn`], unless the graph has a mistake that is reported already: a cycle has no end for the trait solver.
pub trait FitsIf<A, const SOUND: bool> {
    /// Exists where the resolver fits.
    const FITS: () = ();
}

impl<R: FitsIn<A>, A> FitsIf<A, true> for R {}

impl<R, A> FitsIf<A, false> for R {}
