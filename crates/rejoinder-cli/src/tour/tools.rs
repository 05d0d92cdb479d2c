use std::time::Duration;

use rejoinder::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use super::Notes;

/// Add two numbers.
#[tool(read_only)]
pub async fn add(
    /// The first number
    a: i64,
    /// The second number
    b: i64,
) -> Result<i64, CallError> {
    a.checked_add(b).ok_or_else(|| CallError::new("the sum is too large: use numbers below 2^62"))
}

/// Count to a number, slowly, and report progress on the way.
#[tool(read_only)]
pub async fn count_to(
    /// Where to stop
    #[arg(default = 5)]
    number: u32,
    ctx: Context,
) -> String {
    for step in 1..=number {
        tokio::time::sleep(Duration::from_millis(100)).await;
        ctx.progress(f64::from(step)).total(f64::from(number)).message(format!("{step}")).await;
    }
    format!("counted to {number}")
}

/// How a die fell.
#[derive(Serialize, JsonSchema)]
pub struct Roll {
    /// Each die
    dice: Vec<u8>,
    /// All of them together
    total: u32,
}

/// Roll some dice.
#[tool]
pub async fn roll(
    /// How many dice
    #[arg(default = 2)]
    dice: u8,
) -> Json<Roll> {
    use std::hash::{BuildHasher, RandomState};
    let dice: Vec<u8> = (0..dice).map(|die| (RandomState::new().hash_one(die) % 6) as u8 + 1).collect();
    Json(Roll { total: dice.iter().map(|die| u32::from(*die)).sum(), dice })
}

/// Write a note that becomes a resource.
#[tool(idempotent)]
pub async fn write_note(
    /// A name of letters, digits and dashes
    name: String,
    /// What the note says
    text: String,
    notes: Dep<Notes>,
    server: ServerHandle,
) -> Result<String, CallError> {
    let uri = notes.write(&name, text)?;
    server.resource_updated(&uri);
    Ok(format!("read it at {uri}"))
}

/// Really?
#[derive(Elicit)]
pub struct Confirm {
    /// Delete it for good?
    yes: bool,
}

/// Asks, unless the note is empty. `name` is the tool's own argument.
#[resolver]
fn confirm(name: &str, notes: Dep<Notes>) -> Result<Ask<Confirm>, CallError> {
    Ok(match notes.read(name)?.as_str() {
        "" => Ask::known(Confirm { yes: true }),
        text => Ask::user(format!("The note says: {text}")),
    })
}

/// Delete a note, after asking the user.
#[tool(destructive)]
pub async fn delete_note(
    /// Which note
    name: String,
    #[resolve(confirm)] confirm: &Confirm,
    notes: Dep<Notes>,
) -> String {
    if !confirm.yes {
        return format!("kept {name}");
    }
    notes.delete(&name);
    format!("deleted {name}")
}
