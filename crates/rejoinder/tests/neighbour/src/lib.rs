//! Resolvers of another crate, as a library of them would have: the graph reaches over the border.

use rejoinder::prelude::*;

/// The language of a text, by its ending.
#[resolver]
pub fn language(path: &str) -> String {
    path.rsplit('.').next().unwrap_or_default().to_owned()
}

/// A question that depends on it.
#[resolver]
pub fn sure(#[resolve(language)] language: &String) -> Ask<bool> {
    Ask::confirm(format!("Is it {language}?"))
}
