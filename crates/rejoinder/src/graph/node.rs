use std::any::Any;

use schemars::SchemaGenerator;
use serde_json::{Value, value::RawValue};

use super::{Instance, Resolver};
use crate::{
    call::{Argument, ArgumentError, SentArgument},
    inject::{Need, Parameter, source},
};

/// A resolver in the graph: one static value, which constant evaluation can walk.
///
/// Nodes point at each other, in a cycle too if the author wrote one; the checks look for that. A generic resolver has one
/// node for all its [`Instance`]s, which need the same.
#[derive(Debug)]
pub struct Node {
    /// Tells nodes apart in constant evaluation.
    pub id: u64,
    /// The function's name.
    pub name: &'static str,
    /// The key it asks under, if the author chose one.
    pub key: Option<&'static str>,
    /// Its module.
    pub module: &'static str,
    /// Whether its name alone names it there, which it does not for a method or a generic function.
    pub has_plain_name: bool,
    /// Where it is written: `file:line`.
    pub at: &'static str,
    /// Its parameters that are not filled by resolvers.
    pub arguments: &'static [NodeArgument<'static>],
    /// The resolvers it needs.
    pub below: &'static [&'static Node],
    /// What it returns, as written.
    pub returns: &'static str,
    /// Whether it may ask.
    pub asks: bool,
    /// Whether its value is kept for the other parameters of the round.
    pub cached: bool,
}

impl Node {
    /// A number that tells the function of that name, in that module and at that place, from all others.
    pub const fn id(module: &str, name: &str, at: &str) -> u64 {
        // Never 0, which is an empty place in a set.
        hash(hash(hash(EMPTY, module), name), at) | 1
    }
}

/// A tool, prompt or resource in the graph.
#[derive(Debug)]
pub struct ItemNode<'a> {
    /// `tool`, `prompt` or `resource`.
    pub kind: &'static str,
    /// Its name.
    pub name: &'a str,
    /// Its parameters that are not filled by resolvers.
    pub arguments: &'a [NodeArgument<'a>],
    /// The resolvers it needs.
    pub edges: &'a [Edge],
    /// Whether it makes its rounds by hand.
    pub by_hand: bool,
    /// The variables of a resource's URI.
    pub variables: Option<&'a [&'a str]>,
}

/// A parameter that no resolver fills.
#[derive(Debug, Clone, Copy)]
pub struct NodeArgument<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its type, as written.
    pub written: &'a str,
    /// Whether it is an argument; otherwise the call supplies it.
    pub is_argument: bool,
    /// Whether it is `Rounds`.
    pub(super) by_hand: bool,
    /// What it needs to have been provided.
    pub(super) need: fn() -> Option<Need>,
    /// How it is read where only its name is known, if it is an argument.
    pub(super) by_name: fn() -> Option<ByName>,
}

impl<'a> NodeArgument<'a> {
    /// A parameter of type `P`.
    pub const fn of<P: Parameter<SOURCE>, const SOURCE: u8>(name: &'a str, written: &'a str) -> Self {
        let is_argument = SOURCE == source::ARGUMENT;
        Self { name, written, is_argument, by_hand: P::BY_HAND, need: P::need, by_name: P::by_name }
    }

    /// A number for a name: constant generics take no strings.
    pub const fn id(name: &str) -> u64 {
        hash(EMPTY, name)
    }

    /// A parameter whose type depends on type parameters, or is known at run time only.
    pub const fn untyped(name: &'a str, written: &'a str, source: u8) -> Self {
        let is_argument = source == source::ARGUMENT;
        Self { name, written, is_argument, by_hand: false, need: || None, by_name: || None }
    }
}

/// How an argument is read where only its name is known: in a tool that is made at run time.
#[derive(Debug, Clone, Copy)]
pub struct ByName {
    /// Reads it.
    pub(super) read: ReadByName,
    /// Its schema.
    pub(super) schema: fn(&mut SchemaGenerator) -> Value,
}

/// Reads an argument, or finds what it is when nothing was sent.
pub(super) type ReadByName = fn(Option<&RawValue>) -> Result<Box<dyn Any + Send + Sync>, ArgumentError>;

impl ByName {
    /// An argument of that type.
    pub(crate) fn of<T: Argument>() -> Self {
        let read: ReadByName = |json| match json {
            Some(json) => T::read(&SentArgument::Json(json)).map(|value| Box::new(value) as _),
            None => T::absent().map(|value| Box::new(value) as _).ok_or_else(ArgumentError::required),
        };
        Self { read, schema: T::schema }
    }
}

/// A parameter that is filled by a resolver.
#[derive(Debug, Clone, Copy)]
pub struct Edge {
    /// The parameter's name.
    pub(crate) parameter: &'static str,
    /// Its type, as written.
    pub(crate) written: &'static str,
    /// The resolver.
    pub(crate) node: &'static Node,
    /// The resolver with its types.
    pub(crate) instance: fn() -> &'static Instance,
}

impl Edge {
    /// The edge to `R`, whose node this is.
    pub const fn to<R: Resolver>(node: &'static Node, parameter: &'static str, written: &'static str) -> Self {
        Self { parameter, written, node, instance: R::instance }
    }
}

/// The [`hash`] of nothing.
const EMPTY: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a, which constant evaluation can compute, with a byte after each text that no text has.
const fn hash(mut hash: u64, text: &str) -> u64 {
    let bytes = text.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u64).wrapping_mul(0x0100_0000_01b3);
        i += 1;
    }
    (hash ^ 0xff).wrapping_mul(0x0100_0000_01b3)
}
