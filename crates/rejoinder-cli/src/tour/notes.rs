//! Notes: shared state, resources that read it, and tools that change it. One of the tools asks the user.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use rejoinder::{call::CompletionRequest, prelude::*};

/// The notes, kept in memory.
#[derive(Debug)]
pub struct Notes(Mutex<BTreeMap<String, String>>);

impl Default for Notes {
    fn default() -> Self {
        let welcome = "A function marked #[resource(\"..\")] returned this text.";
        Self(Mutex::new(BTreeMap::from([("welcome".into(), welcome.into())])))
    }
}

impl Notes {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, name: &str) -> Result<String, CallError> {
        self.lock().get(name).cloned().ok_or_else(|| CallError::not_found(format!("there is no note `{name}`")))
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
    /// The name of the note
    #[arg(complete = names)]
    name: String,
    notes: Dep<Notes>,
) -> Result<String, CallError> {
    notes.read(&name)
}

#[completion]
async fn names(typed: CompletionRequest) -> Vec<String> {
    let notes = typed.call.dependency::<Notes>();
    let names = |notes: &Notes| notes.lock().keys().filter(|name| name.starts_with(&typed.value)).cloned().collect();
    notes.as_deref().map(names).unwrap_or_default()
}

/// Write a note, which is then a resource.
#[tool(idempotent)]
pub async fn write_note(
    /// A name of letters, digits and dashes
    name: String,
    /// The text of the note
    text: String,
    notes: Dep<Notes>,
    server: ServerHandle,
) -> Result<String, CallError> {
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
        return Err(CallError::new("the name of a note can have letters, digits and dashes, such as `to-do`"));
    }
    let uri = format!("note://{name}");
    notes.lock().insert(name, text);
    server.resource_updated(&uri);
    Ok(format!("read it at {uri}"))
}

/// The question of `confirm`.
#[derive(Elicit)]
pub struct Confirm {
    /// Delete the note?
    yes: bool,
}

/// Asks the user, unless the note is empty. `name` is the tool's argument of that name.
#[resolver]
fn confirm(name: &str, notes: Dep<Notes>) -> Result<Ask<Confirm>, CallError> {
    Ok(match notes.read(name)?.as_str() {
        "" => Ask::known(Confirm { yes: true }),
        text => Ask::user(format!("The note says: {text}")),
    })
}

/// Ask the user, then delete a note.
#[tool(destructive)]
pub async fn delete_note(
    /// The name of the note
    name: String,
    #[resolve(confirm)] confirm: &Confirm,
    notes: Dep<Notes>,
) -> String {
    if !confirm.yes {
        return format!("kept {name}");
    }
    notes.lock().remove(&name);
    format!("deleted {name}")
}
