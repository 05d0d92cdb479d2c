//! Resolvers of another crate, as a library of them would have: the graph reaches over the border.
//!
//! It knows `rejoinder` under another name.

use framework::prelude::*;

/// The language of a text, by its ending.
#[resolver(crate = "framework")]
pub fn language(path: &str) -> String {
    path.rsplit('.').next().unwrap_or_default().to_owned()
}

/// A question that depends on it.
#[resolver(crate = "framework")]
pub fn sure(#[resolve(language)] language: &String) -> Ask<bool> {
    Ask::confirm(format!("Is it {language}?"))
}

/// A form.
#[derive(Debug, Elicit)]
#[elicit(crate = "framework")]
pub struct Review {
    /// How good it is
    pub grade: Grade,
}

/// A choice.
#[derive(Debug, ElicitEnum)]
#[elicit(crate = "framework")]
pub enum Grade {
    /// It is good.
    Good,
    /// It is not.
    Bad,
}

/// Removes what is around a text.
#[pipe(crate = "framework")]
pub fn trim(text: String) -> String {
    text.trim().to_owned()
}

/// Translate a text.
#[tool(crate = "framework", read_only)]
pub fn translate(path: String, #[pipe(trim)] text: String, #[resolve(language)] to: &str) -> String {
    format!("{text} in {to}, as {path} is")
}

/// What is written on its wall.
#[derive(Debug)]
pub struct Wall(pub String);

#[handlers(crate = "framework")]
impl Wall {
    /// Read the wall.
    #[tool]
    fn read(&self) -> String {
        self.0.clone()
    }
}

/// Everything that this crate offers.
pub fn tools() -> Vec<framework::Tool> {
    let mut tools = tools![crate = "framework", translate];
    tools.extend(std::sync::Arc::new(Wall("Kilroy was here".to_owned())).tools());
    tools
}
