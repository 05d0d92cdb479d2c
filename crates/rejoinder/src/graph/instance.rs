use std::{any::TypeId, borrow::Cow};

use super::{ByName, Edge, Node};
use crate::{form::Form, inject::Need};

/// A resolver as a call runs it: a [`Node`] with its types.
#[derive(Debug)]
pub struct Instance {
    /// Its place in the graph.
    pub node: &'static Node,
    /// The resolvers it needs.
    pub edges: &'static [Edge],
    /// Its type, under which its outcome is kept.
    pub type_id: fn() -> TypeId,
    /// The name of that type.
    pub type_name: fn() -> &'static str,
    /// The type of its function, by which a method is found that has no type of its name.
    pub function: fn() -> TypeId,
    /// The type of what it makes.
    pub output: fn() -> TypeId,
    /// The name of that type.
    pub output_name: fn() -> &'static str,
    /// What its own parameters need to have been provided.
    pub needs: fn() -> Vec<(&'static str, Need)>,
    /// How each of [`Node::arguments`] is found where only its name is known, if it is an argument.
    pub by_name: &'static [fn() -> Option<ByName>],
    /// The form that it asks the user to fill in, if its type tells.
    pub form: Option<fn() -> Form>,
}

impl Instance {
    /// What it is called where people read it: as it is written in `#[resolve(..)]`, `load::<User>`.
    pub fn shown(&self) -> Cow<'static, str> {
        let name = self.node.name;
        match (self.type_name)().split_once('<') {
            Some((_, types)) => Cow::Owned(format!("{name}::<{}", without_modules(types))),
            None => Cow::Borrowed(name),
        }
    }
}

/// The names of types without the paths to them.
fn without_modules(types: &str) -> String {
    let mut shown = String::with_capacity(types.len());
    let mut word = 0;
    let mut rest = types.chars().peekable();
    while let Some(c) = rest.next() {
        if c == ':' && rest.next_if_eq(&':').is_some() {
            shown.truncate(word);
            continue;
        }
        shown.push(c);
        if !(c.is_alphanumeric() || c == '_') {
            word = shown.len();
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_shown_without_their_modules() {
        assert_eq!(without_modules("alloc::vec::Vec<shop::User>, 3>"), "Vec<User>, 3>");
        assert_eq!(without_modules("(u8, &[core::option::Option<i32>])>"), "(u8, &[Option<i32>])>");
    }
}
