use std::any::TypeId;

/// A resolver, as the graph sees it: one static value, which constant evaluation can walk.
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
    /// Where it is written: `file:line`.
    pub at: &'static str,
    /// The arguments that it takes by name.
    pub arguments: &'static [NodeArgument],
    /// The resolvers it needs.
    pub edges: &'static [Edge],
    /// Whether it may ask.
    pub asks: bool,
    /// Its type, which tells instances of a generic resolver apart.
    pub type_id: fn() -> TypeId,
}

/// An argument that a resolver takes by name.
#[derive(Debug, Clone, Copy)]
pub struct NodeArgument {
    /// Its name.
    pub name: &'static str,
    /// Its type, as written.
    pub written: &'static str,
}

/// A parameter that is filled by a resolver.
#[derive(Debug)]
pub struct Edge {
    /// The parameter's name.
    pub parameter: &'static str,
    /// The resolver.
    pub node: &'static Node,
}
