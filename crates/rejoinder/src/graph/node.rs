use std::any::Any;

use schemars::SchemaGenerator;
use serde_json::{Value, value::RawValue};

use super::Instance;
use crate::call::{Argument, ArgumentError, SentArgument};

/// A resolver, as the graph sees it: one static value, which constant evaluation can walk.
///
/// Nodes point at each other, in a cycle too if the author wrote one; that is what the checks look for. A generic resolver
/// has one node for all its [`Instance`]s: what they need they need alike.
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
    /// Whether its name alone names it there: that of a method does not, nor that of a generic function.
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
}

/// A tool, prompt or resource, as the graph sees it.
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
}

/// How an argument is found where only its name is known: in a tool that is made at run time.
#[derive(Debug, Clone, Copy)]
pub struct ByName {
    /// Reads it.
    pub read: ReadByName,
    /// Its schema.
    pub schema: fn(&mut SchemaGenerator) -> Value,
}

/// Reads an argument, or finds what it is when nothing was sent.
pub(crate) type ReadByName = fn(Option<&RawValue>) -> Result<Box<dyn Any + Send + Sync>, ArgumentError>;

impl ByName {
    /// An argument of that type.
    pub fn of<T: Argument>() -> Self {
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
    pub parameter: &'static str,
    /// Its type, as written.
    pub written: &'static str,
    /// The resolver.
    pub node: &'static Node,
    /// The resolver with its types.
    pub instance: fn() -> &'static Instance,
}

/// A number that tells the function of that name, in that module and at that place, from all others.
pub const fn node_id(module: &str, name: &str, at: &str) -> u64 {
    // FNV-1a, with a byte that no text has between the parts; never 0, which is an empty place in a set.
    const fn add(mut hash: u64, text: &str) -> u64 {
        let bytes = text.as_bytes();
        let mut i = 0;
        while i < bytes.len() {
            hash = (hash ^ bytes[i] as u64).wrapping_mul(0x0100_0000_01b3);
            i += 1;
        }
        (hash ^ 0xff).wrapping_mul(0x0100_0000_01b3)
    }
    add(add(add(0xcbf2_9ce4_8422_2325, module), name), at) | 1
}
