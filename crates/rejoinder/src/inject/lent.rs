use std::path::{Path, PathBuf};

/// What a resolver borrows when its parameter is a `&Self`: the argument is of type [`Lent::Owner`].
///
/// It is asked only where the name of a type does not tell: a `&Path` borrows from a `PathBuf`, unless `Path` is a type
/// of the author's own.
pub trait Lent {
    /// The argument's type.
    type Owner;
}

impl<T> Lent for T {
    type Owner = T;
}

impl Lent for Path {
    type Owner = PathBuf;
}
