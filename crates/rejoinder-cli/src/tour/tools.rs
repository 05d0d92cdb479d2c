//! Tools of plain functions: a result, progress, structured output.

use std::time::Duration;

use rejoinder::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

/// Add two numbers.
#[tool(read_only)]
pub async fn add(
    /// The first number
    a: i64,
    /// The second number
    b: i64,
) -> Result<i64, CallError> {
    a.checked_add(b).ok_or_else(|| CallError::new("the sum does not fit 64 bits: use smaller numbers"))
}

/// Count slowly to a number and report progress.
#[tool(read_only)]
pub async fn count_to(
    /// The last number
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

/// The dice that were rolled.
#[derive(Serialize, JsonSchema)]
pub struct Roll {
    /// The number on each die
    dice: Vec<u8>,
    /// The sum
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
