//! An argument that a resolver takes by name, and the item does not have: what is there instead, and what to do.

use super::{Edge, ItemNode, Node, NodeArgument, Report, check::compare, seen::Seen};

/// Looks for one below this resolver.
pub(super) const fn find_unknown(item: &ItemNode<'_>, node: &'static Node, seen: &mut Seen, report: &mut Report) {
    if report.failed() || !seen.add(node) {
        return;
    }
    let mut i = 0;
    while i < node.arguments.len() && !report.failed() {
        tell_unknown(item, node, &node.arguments[i], report);
        i += 1;
    }
    let mut i = 0;
    while i < node.below.len() {
        find_unknown(item, node.below[i], seen, report);
        i += 1;
    }
}

/// Tells of this one, if the item does not have it.
pub(super) const fn tell_unknown(item: &ItemNode<'_>, node: &Node, argument: &NodeArgument<'_>, report: &mut Report) {
    if argument.is_argument && !has(item.arguments, argument.name) {
        report.push_all(&["resolver `", node.name, "` (", node.at, ") takes the ", item.kind, "'s argument `"]);
        report.push_all(&[argument.name, ": ", argument.written, "`, but ", item.kind, " `", item.name, "` has "]);
        push_what_there_is(item, node, argument.name, report);
    }
}

const fn has(arguments: &[NodeArgument<'_>], name: &str) -> bool {
    let mut i = 0;
    while i < arguments.len() {
        if arguments[i].is_argument && compare(arguments[i].name, name) == 0 {
            return true;
        }
        i += 1;
    }
    false
}

const fn push_what_there_is(item: &ItemNode<'_>, taker: &Node, name: &str, report: &mut Report) {
    if let Some(parameter) = injected(item.arguments, name) {
        report.push_all(&["its `", name, ": ", parameter.written, "` from the call"]);
        return report.push(": take it with that type, or rename one of the two");
    }
    if let Some(edge) = resolved(item.edges, name) {
        report.push_all(&["its `", name, ": ", edge.written, "` from resolver `", edge.node.name, "`: "]);
        // Who is needed by it cannot take it.
        if !needs(edge.node, taker, &mut Seen::new()) {
            let is_known_by_name = edge.node.has_plain_name && compare(edge.node.module, taker.module) == 0;
            let path = if is_known_by_name { edge.node.name } else { ".." };
            report.push_all(&["take it with `#[resolve(", path, ")]`, or "]);
        }
        return report.push("rename one of the two");
    }
    let has_some = push_arguments(item.arguments, report);
    match nearest(item.arguments, name) {
        Some(near) => report.push_all(&["; did you mean `", near, "`? give both the same name, or add"]),
        None => report.push(": add"),
    }
    report.push_all(&[" the argument to the ", item.kind]);
    if has_some && nearest(item.arguments, name).is_none() {
        report.push_all(&[", or rename the ", item.kind, "'s argument that is meant"]);
    }
}

const fn injected<'a>(arguments: &'a [NodeArgument<'a>], name: &str) -> Option<&'a NodeArgument<'a>> {
    let mut i = 0;
    while i < arguments.len() {
        if !arguments[i].is_argument && compare(arguments[i].name, name) == 0 {
            return Some(&arguments[i]);
        }
        i += 1;
    }
    None
}

const fn resolved<'a>(edges: &'a [Edge], name: &str) -> Option<&'a Edge> {
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
const fn needs(node: &'static Node, other: &Node, seen: &mut Seen) -> bool {
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

/// Tells whether there are any.
const fn push_arguments(arguments: &[NodeArgument<'_>], report: &mut Report) -> bool {
    let mut first = true;
    let mut i = 0;
    while i < arguments.len() {
        if arguments[i].is_argument {
            report.push_all(&[
                if first { "only `" } else { ", `" },
                arguments[i].name,
                ": ",
                arguments[i].written,
                "`",
            ]);
            first = false;
        }
        i += 1;
    }
    if first {
        report.push("no arguments");
    }
    !first
}

/// The argument that was probably meant: one that shares something with the name.
const fn nearest<'a>(arguments: &[NodeArgument<'a>], name: &str) -> Option<&'a str> {
    let mut nearest = None;
    let mut least = least(2 + name.len() / 4, name.len());
    let mut i = 0;
    while i < arguments.len() {
        if arguments[i].is_argument {
            let distance = distance(arguments[i].name, name);
            if distance < least {
                (nearest, least) = (Some(arguments[i].name), distance);
            }
        }
        i += 1;
    }
    nearest
}

/// The number of bytes to change, add or leave out; of long names, one that is never near.
const fn distance(a: &str, b: &str) -> usize {
    const LONGEST: usize = 64;
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() > LONGEST || b.len() > LONGEST {
        return usize::MAX;
    }
    let mut row = [0; LONGEST + 1];
    let mut j = 0;
    while j <= b.len() {
        row[j] = j;
        j += 1;
    }
    let mut i = 0;
    while i < a.len() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        let mut j = 0;
        while j < b.len() {
            let change = diagonal + (a[i] != b[j]) as usize;
            diagonal = row[j + 1];
            row[j + 1] = least(change, least(row[j], diagonal) + 1);
            j += 1;
        }
        i += 1;
    }
    row[b.len()]
}

const fn least(a: usize, b: usize) -> usize {
    if a < b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_that_is_near_is_found() {
        let argument = |name, is_argument| NodeArgument { name, written: "String", is_argument };
        let arguments = [argument("folder", true), argument("file", true), argument("path", false)];
        assert_eq!(nearest(&arguments, "flie"), Some("file"));
        assert_eq!(nearest(&arguments, "folders"), Some("folder"));
        assert_eq!(nearest(&arguments, "paths"), None);
        assert_eq!(nearest(&arguments, &"file".repeat(40)), None);
        let arguments = [argument("b", true), argument("cd", true)];
        assert_eq!(nearest(&arguments, "a"), None);
        assert_eq!(nearest(&arguments, "ab"), Some("b"));
        assert_eq!(nearest(&arguments, "ce"), Some("cd"));
        assert_eq!(nearest(&arguments, "ef"), None);
    }

    #[test]
    fn a_distance_counts_what_is_changed_added_and_left_out() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("same", "same"), 0);
    }
}
