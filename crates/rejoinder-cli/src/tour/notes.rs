use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use rejoinder::{call::CompletionRequest, prelude::*};

/// Notes that last as long as the server does.
#[derive(Debug)]
pub struct Notes(Mutex<BTreeMap<String, String>>);

impl Default for Notes {
    fn default() -> Self {
        let welcome = "A resource is what a function marked #[resource(\"..\")] returns.";
        Self(Mutex::new(BTreeMap::from([("welcome".into(), welcome.into())])))
    }
}

impl Notes {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn write(&self, name: &str, text: String) -> Result<String, CallError> {
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
            return Err(CallError::new("a note's name has letters, digits and dashes, such as `to-do`"));
        }
        self.lock().insert(name.to_owned(), text);
        Ok(format!("note://{name}"))
    }

    pub(super) fn read(&self, name: &str) -> Result<String, CallError> {
        self.lock().get(name).cloned().ok_or_else(|| CallError::new(format!("there is no note `{name}`")))
    }

    pub(super) fn delete(&self, name: &str) {
        self.lock().remove(name);
    }
}

/// The names of all notes.
#[resource("notes://all", mime_type = "application/json")]
pub async fn index(notes: Dep<Notes>) -> Json<Vec<String>> {
    Json(notes.lock().keys().cloned().collect())
}

/// One note.
#[resource("note://{name}", mime_type = "text/plain")]
pub async fn note(
    /// Which note
    #[arg(complete = names)]
    name: String,
    notes: Dep<Notes>,
) -> Result<String, CallError> {
    notes.read(&name)
}

async fn names(typed: CompletionRequest) -> Vec<String> {
    let notes = typed.call.dependency::<Notes>();
    let names = |notes: &Notes| notes.lock().keys().filter(|name| name.starts_with(&typed.value)).cloned().collect();
    notes.as_deref().map(names).unwrap_or_default()
}
