//! The script that the resolvers follow, and the tools with which a test reads and changes it.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use rejoinder::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

/// The functions that ran, and the texts of the questions.
pub struct Script(Mutex<Lines>);

struct Lines {
    ran: Vec<&'static str>,
    words: BTreeMap<&'static str, String>,
    turns: u32,
}

/// The resolvers whose text does not depend on the call.
const WORDS: [(&str, &str); 10] = [
    ("who", "Who?"),
    ("sure", "Sure?"),
    ("third", "Third?"),
    ("deploy", "Deploy to prod?"),
    ("form", "Fill"),
    ("sample", "hi"),
    ("sample_tools", "hi"),
    ("after_sample", "Keep it?"),
    ("askA", "A?"),
    ("askB", "B?"),
];

impl Script {
    /// Records that this resolver, or the body, runs.
    pub fn ran(&self, name: &'static str) {
        self.lines().ran.push(name);
    }

    /// Records that this resolver runs, and returns the text of its question.
    pub fn asks(&self, name: &'static str) -> String {
        self.ran(name);
        self.lines().words[name].clone()
    }

    /// Records that this resolver runs, and returns another text each time.
    pub fn asks_differently(&self, name: &'static str) -> String {
        self.ran(name);
        let mut lines = self.lines();
        lines.turns += 1;
        format!("q{}", lines.turns)
    }

    /// The functions that ran since the last call of this one.
    pub fn take_ran(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.lines().ran)
    }

    /// Changes the text of a resolver's question.
    ///
    /// # Errors
    ///
    /// The resolvers whose text can be changed, if it is none of them.
    pub fn reword(&self, resolver: &str, text: String) -> Result<(), String> {
        let mut lines = self.lines();
        match lines.words.get_mut(resolver) {
            Some(words) => *words = text,
            None => return Err(lines.words.keys().copied().collect::<Vec<_>>().join(", ")),
        }
        Ok(())
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Script {
    fn default() -> Self {
        let words = WORDS.map(|(name, words)| (name, words.to_owned())).into();
        Self(Mutex::new(Lines { ran: Vec::new(), words, turns: 0 }))
    }
}

/// The functions that ran.
#[derive(Serialize, JsonSchema)]
pub struct Ran {
    /// Resolvers by their names, tools as `body`.
    ran: Vec<&'static str>,
}

/// List the functions that ran since the last call of this tool.
#[tool]
pub fn ran(script: Dep<Script>) -> Json<Ran> {
    Json(Ran { ran: script.take_ran() })
}

/// Change the text of a resolver's question.
#[tool]
pub fn reword(
    /// The resolver's name
    resolver: String,
    /// The new text
    text: String,
    script: Dep<Script>,
) -> Result<&'static str, CallError> {
    let unknown = |known| CallError::new(format!("`{resolver}` has no text to change; use one of {known}"));
    script.reword(&resolver, text).map_err(unknown)?;
    Ok("reworded")
}
