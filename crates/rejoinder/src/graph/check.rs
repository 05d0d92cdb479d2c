//! What is checked about the graph while the program compiles. The functions run as well at run time.

use super::{
    ItemNode, Node, Report, naming,
    seen::{Path, Seen},
    unknown::find_unknown,
};

/// What came of looking for a cycle.
#[derive(Debug)]
pub struct CycleCheck {
    /// The cycle, if there is one.
    pub report: Report,
    /// Where it begins, as an index into [`Node::below`].
    below: usize,
}

impl CycleCheck {
    /// Whether there is one that begins with this resolver below.
    pub const fn failed(&self, below: usize) -> bool {
        self.report.failed() && self.below == below
    }
}

/// A cycle through this resolver; reported at its least member only, so that one cycle is one error.
pub const fn check_cycle(start: &'static Node) -> CycleCheck {
    let mut check = CycleCheck { report: Report::new(), below: 0 };
    let mut path = Path::new();
    if !find_cycle(start, start, &mut path, &mut Seen::new()) {
        return check;
    }
    let mut i = 0;
    while i < path.length {
        if is_less(path.get(i), start) {
            return check;
        }
        i += 1;
    }
    let first = if path.length > 1 { path.get(1) } else { start };
    while start.below[check.below].id != first.id {
        check.below += 1;
    }
    let report = &mut check.report;
    if path.length == 1 {
        report.push_all(&["resolver `", start.name, "` (", start.at, ") needs itself: take this parameter away"]);
        return check;
    }
    report.push("resolvers need each other in a cycle: ");
    let mut i = 0;
    while i < path.length {
        let node = path.get(i);
        report.push_all(&["`", node.name, "` (", node.at, ") -> "]);
        i += 1;
    }
    report.push_all(&["`", start.name, "`; take one of these parameters away"]);
    check
}

const fn find_cycle(start: &'static Node, node: &'static Node, path: &mut Path, seen: &mut Seen) -> bool {
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

/// What came of looking at everything that an item needs.
#[derive(Debug)]
pub struct ItemCheck {
    /// What is wrong, if anything is.
    pub report: Report,
    /// The parameter below which it is wrong, as an index into the item's edges.
    edge: usize,
    cyclic: bool,
}

impl ItemCheck {
    /// Whether something is wrong below this parameter.
    pub const fn failed(&self, edge: usize) -> bool {
        self.report.failed() && self.edge == edge
    }

    /// Whether the graph can be walked to look at types, as the [`naming`] of a resolver that is looked at. A cycle is
    /// told where it is, not at the item.
    pub const fn naming(&self) -> u8 {
        if self.cyclic || self.report.failed() { naming::TOLD } else { naming::SOUND }
    }
}

/// Looks for arguments that resolvers take by name and the item does not have, and for questions beside rounds that are
/// made by hand.
pub const fn check_item(item: &ItemNode<'_>) -> ItemCheck {
    let mut check = ItemCheck { report: Report::new(), edge: 0, cyclic: false };
    let mut path = Path::new();
    let mut met = Seen::new();
    let mut i = 0;
    while i < item.edges.len() {
        if is_cyclic(item.edges[i].node, &mut path, &mut met) {
            check.cyclic = true;
            return check;
        }
        i += 1;
    }
    let (mut seen, mut asking) = (Seen::new(), Seen::new());
    while check.edge < item.edges.len() {
        find_unknown(item, item.edges[check.edge].node, &mut seen, &mut check.report);
        if item.by_hand && !check.report.failed() {
            find_asking(item, item.edges[check.edge].node, &mut asking, &mut check.report);
        }
        if check.report.failed() {
            return check;
        }
        check.edge += 1;
    }
    check
}

const fn is_cyclic(node: &'static Node, path: &mut Path, seen: &mut Seen) -> bool {
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

const fn find_asking(item: &ItemNode<'_>, node: &'static Node, seen: &mut Seen, report: &mut Report) {
    if report.failed() || !seen.add(node) {
        return;
    }
    tell_asking(item, node, report);
    let mut i = 0;
    while i < node.below.len() {
        find_asking(item, node.below[i], seen, report);
        i += 1;
    }
}

/// Tells of this resolver, if it asks.
pub(super) const fn tell_asking(item: &ItemNode<'_>, node: &Node, report: &mut Report) {
    if node.asks {
        report.push_all(&[item.kind, " `", item.name, "` makes its rounds by hand, with `Rounds` or `Reply`, and "]);
        report.push_all(&["resolver `", node.name, "` (", node.at, ") asks: leave all questions to one of them"]);
    }
}

const fn is_less(a: &Node, b: &Node) -> bool {
    match compare(a.module, b.module) {
        0 => compare(a.name, b.name) < 0,
        order => order < 0,
    }
}

/// Below, at or above 0, as `a` is before, equal to or after `b`.
pub(super) const fn compare(a: &str, b: &str) -> i32 {
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
