//! The checks of the graph while the program compiles. They run for tools that are made at run time, too.

use super::{Edge, ItemNode, Node, NodeArgument};
use crate::inject::source;

/// A `for` loop, which constant evaluation does not have yet.
macro_rules! each {
    ($i:ident in 0..$end:expr => $body:block) => {
        let mut $i = 0;
        while $i < $end {
            $body
            $i += 1;
        }
    };
}

/// What a check found: the first mistake, and where to report it.
#[derive(Debug)]
pub struct Check {
    pub(super) report: Report,
    pub(super) place: usize,
    is_cyclic: bool,
}

impl Check {
    pub(super) const fn new() -> Self {
        Self { report: Report::new(), place: 0, is_cyclic: false }
    }

    /// Fails if the mistake is at this place. The parameters that no resolver fills come first, then those that one fills,
    /// then the return type.
    ///
    /// # Panics
    ///
    /// If it is there, while the program compiles.
    #[track_caller] // so that the compiler shows the place, and not what is here
    pub const fn at(&self, place: usize) {
        if self.place == place && self.report.failed() {
            panic!("{}", self.report.as_str())
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
        let mut check = Check::new();
        each!(i in 0..self.arguments.len() => {
            if self.arguments[i].by_hand {
                check.place = i;
                check.report.push(&[
                    "a resolver cannot take `Rounds`: return `Ask<T>` to ask, and take other answers with `#[resolve(..)]`",
                ]);
                return check;
            }
        });
        if self.asks && !self.cached {
            check.place = self.arguments.len() + self.below.len();
            check.report.push(&["a resolver that asks runs once in a round: remove `cache = false`"]);
            return check;
        }
        let mut path = Nodes::new();
        if let Some(0) = find_cycle(self, &mut path, &mut Nodes::new()) {
            let first = path.get(1 % path.length);
            let mut edge = 0;
            while self.below[edge].id != first.id {
                edge += 1;
            }
            check.place = self.arguments.len() + edge;
            report_cycle(&path, &mut check.report);
        }
        check
    }
}

const fn report_cycle(path: &Nodes, report: &mut Report) {
    let start = path.get(0);
    if path.length == 1 {
        return report.push(&["resolver `", start.name, "` (", start.at, ") needs itself: remove this parameter"]);
    }
    report.push(&["resolvers need each other in a cycle: "]);
    each!(i in 0..path.length => {
        let node = path.get(i);
        report.push(&["`", node.name, "` (", node.at, ") -> "]);
    });
    report.push(&["`", start.name, "`; remove one of these parameters"]);
}

/// Finds a cycle among a resolver and those below it. Returns where in the path it begins.
const fn find_cycle(node: &'static Node, path: &mut Nodes, seen: &mut Nodes) -> Option<usize> {
    if let Some(index) = path.position(node) {
        return Some(index);
    }
    if seen.position(node).is_some() {
        return None;
    }
    seen.push(node);
    path.push(node);
    each!(i in 0..node.below.len() => {
        if let Some(index) = find_cycle(node.below[i], path, seen) {
            return Some(index);
        }
    });
    path.length -= 1;
    None
}

impl Node {
    /// Checks a resolver that is a gate: nothing that it needs asks or takes arguments.
    pub const fn check_gate(&'static self) -> Check {
        const GATE: ItemNode<'_> = ItemNode::new("gate", "", &[], &[], false);
        let mut check = Check::new();
        // A cycle is reported where it is.
        if find_cycle(self, &mut Nodes::new(), &mut Nodes::new()).is_none() {
            check_below(&GATE, self, &mut Nodes::new(), &mut check.report);
        }
        check
    }
}

impl ItemNode<'_> {
    /// Checks an item: its own parameters, the arguments that resolvers take from it by name, and that nobody asks where
    /// nobody may.
    pub const fn check(&self) -> Check {
        let mut check = Check::new();
        let (mut path, mut seen) = (Nodes::new(), Nodes::new());
        each!(i in 0..self.edges.len() => {
            if find_cycle(self.edges[i].node, &mut path, &mut seen).is_some() {
                check.is_cyclic = true;
                return check;
            }
        });
        while check.place < self.arguments.len() {
            check_argument(self, check.place, &mut check.report);
            if check.report.failed() {
                return check;
            }
            check.place += 1;
        }
        let mut seen = Nodes::new();
        each!(i in 0..self.edges.len() => {
            check_below(self, self.edges[i].node, &mut seen, &mut check.report);
            if check.report.failed() {
                return check;
            }
            check.place += 1;
        });
        if self.by_hand && !takes_rounds(self.arguments) {
            check.report.push(&[
                "a function that returns `Reply<T>` takes `Rounds`, which has the answers: add `rounds: Rounds` to its parameters",
            ]);
        }
        check
    }
}

const fn takes_rounds(arguments: &[NodeArgument<'_>]) -> bool {
    each!(i in 0..arguments.len() => {
        if arguments[i].by_hand {
            return true;
        }
    });
    false
}

/// Checks one of the item's own parameters.
const fn check_argument(item: &ItemNode<'_>, index: usize, report: &mut Report) {
    let argument = &item.arguments[index];
    let name = argument.name;
    if argument.is_argument && find(item.arguments.split_at(index).0, name, true).is_some() {
        return report.push(&["another parameter is already the argument `", name, "`: rename one of the two"]);
    }
    if argument.by_hand && item.without_arguments().is_some() {
        return report.push(&["a ", item.kind, " cannot take `Rounds`: remove this parameter"]);
    }
    if argument.by_hand && !item.by_hand {
        return report.push(&[
            "a function that takes `Rounds` returns `Reply<T>`: return one, or ask with `Context::ask` and remove `Rounds`",
        ]);
    }
    each!(i in 0..argument.pipes.len() => {
        let edges = argument.pipes[i].edges;
        each!(j in 0..edges.len() => {
            check_below(item, edges[j].node, &mut Nodes::new(), report);
        });
    });
}

/// Checks this resolver, and all that it needs, against the item.
const fn check_below(item: &ItemNode<'_>, node: &'static Node, seen: &mut Nodes, report: &mut Report) {
    if report.failed() || seen.position(node).is_some() {
        return;
    }
    seen.push(node);
    check_asking(item, node, report);
    let mut i = 0;
    while i < node.arguments.len() && !report.failed() {
        check_known(item, node, &node.arguments[i], report);
        i += 1;
    }
    each!(i in 0..node.below.len() => {
        check_below(item, node.below[i], seen, report);
    });
}

/// Reports this resolver if it asks where nobody may, or beside rounds that are made by hand.
pub(super) const fn check_asking(item: &ItemNode<'_>, node: &Node, report: &mut Report) {
    if !item.may_ask() && node.asks {
        report.push(&["resolver `", node.name, "` (", node.at, ") asks, but a ", item.kind, " cannot ask: "]);
        report.push(&["use a resolver that does not, here and below"]);
    } else if item.by_hand && node.asks {
        report.push(&[item.kind, " `", item.name, "` makes its rounds by hand (`Rounds`, `Reply`), but resolver `"]);
        report.push(&[node.name, "` (", node.at, ") asks too: ask in one of the two places only"]);
    }
}

/// Reports an argument that a resolver takes by name if the item does not have it.
pub(super) const fn check_known(item: &ItemNode<'_>, node: &Node, argument: &NodeArgument<'_>, report: &mut Report) {
    if !argument.is_argument || find(item.arguments, argument.name, true).is_some() {
        return;
    }
    let name = argument.name;
    if let Some(why) = item.without_arguments() {
        report.push(&["resolver `", node.name, "` (", node.at, ") takes the argument `", name, "`, but a "]);
        return report.push(&[item.kind, " ", why, ": use a resolver that takes none, here and below"]);
    }
    report.push(&["resolver `", node.name, "` (", node.at, ") takes the ", item.kind, "'s argument `", name, ": "]);
    report.push(&[argument.written, "`, but ", item.kind, " `", item.name, "` has "]);
    if let Some(parameter) = find(item.arguments, name, false) {
        report.push(&["`", name, ": ", parameter.written, "` from "]);
        match parameter.header {
            Some(header) => report.push(&["the header `", header, "`: take it with `#[header]`, or rename it"]),
            None => report.push(&["the server: take it with that type, or rename it"]),
        }
    } else if let Some(edge) = find_edge(item.edges, name) {
        report.push(&["`", name, ": ", edge.written, "` from resolver `", edge.node.name, "`: "]);
        if edge.node.id != node.id {
            report.push(&["take it with `#[resolve(", edge.node.name, ")]`, or "]);
        }
        report.push(&["rename one of the two"]);
    } else {
        push_arguments(item.arguments, report);
        report.push(&[": add the argument to the ", item.kind, ", or use the name of the one that is meant"]);
        let type_name = argument.written.as_bytes();
        if matches!(type_name, [b'&', b'D', b'e', b'p', b'<', ..] | [b'&', b'C', b'o', b'n', b't', b'e', b'x', b't']) {
            report.push(&["; what the server supplies is taken without `&`"]);
        }
    }
}

const fn find<'a>(arguments: &'a [NodeArgument<'a>], name: &str, is_argument: bool) -> Option<&'a NodeArgument<'a>> {
    each!(i in 0..arguments.len() => {
        if arguments[i].is_argument == is_argument && is_same(arguments[i].name, name) {
            return Some(&arguments[i]);
        }
    });
    None
}

const fn find_edge<'a>(edges: &'a [Edge], name: &str) -> Option<&'a Edge> {
    each!(i in 0..edges.len() => {
        if is_same(edges[i].parameter, name) {
            return Some(&edges[i]);
        }
    });
    None
}

const fn push_arguments(arguments: &[NodeArgument<'_>], report: &mut Report) {
    let mut separator = "only `";
    each!(i in 0..arguments.len() => {
        if arguments[i].is_argument {
            report.push(&[separator, arguments[i].name, ": ", arguments[i].written, "`"]);
            separator = ", `";
        }
    });
    if separator.len() == "only `".len() {
        report.push(&["no arguments"]);
    }
}

/// Whether two texts are the same, in constant evaluation.
const fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
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

    /// Adds texts, or as much of them as there is room for.
    pub(super) const fn push(&mut self, texts: &[&str]) {
        each!(i in 0..texts.len() => {
            let text = texts[i].as_bytes();
            let mut j = 0;
            while j < text.len() && self.length < Self::LONGEST {
                self.text[self.length] = text[j];
                self.length += 1;
                j += 1;
            }
        });
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
}

/// Some resolvers, in constant evaluation.
struct Nodes {
    nodes: [Option<&'static Node>; Self::MOST],
    length: usize,
}

impl Nodes {
    const MOST: usize = 256;

    const fn new() -> Self {
        Self { nodes: [None; Self::MOST], length: 0 }
    }

    const fn push(&mut self, node: &'static Node) {
        assert!(self.length < Self::MOST, "a function needs more than 256 resolvers");
        self.nodes[self.length] = Some(node);
        self.length += 1;
    }

    const fn get(&self, index: usize) -> &'static Node {
        self.nodes[index].expect("it is in the list")
    }

    const fn position(&self, node: &Node) -> Option<usize> {
        each!(i in 0..self.length => {
            if self.get(i).id == node.id {
                return Some(i);
            }
        });
        None
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
///
/// If the graph has a mistake, which is reported already, every resolver does: a cycle has no end for the trait solver.
#[diagnostic::on_unimplemented(
    message = "`#[resolve(..)]` does not name a resolver",
    label = "the name is misspelled or not imported, or the function is not marked `#[resolver]`"
)]
pub trait FitsIn<A, const SOUND: bool> {
    /// Exists where the resolver fits.
    const FITS: () = ();
}

impl<R, A> FitsIn<A, false> for R {}
