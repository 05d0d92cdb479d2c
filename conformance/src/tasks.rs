//! Tools that run as tasks.

use std::time::Duration;

use rejoinder::{model::error_code, prelude::*};
use tokio::time::sleep;

use crate::questions::UserName;

/// Whether to delete it.
#[derive(Elicit)]
pub struct Deletion {
    confirm: bool,
}

/// Greets. Never a task.
#[tool]
pub async fn greet(name: String) -> String {
    format!("Hello, {name}!")
}

/// Computes for that long.
#[tool(task)]
pub async fn slow_compute(
    #[arg(min = 0.0, max = 3600.0)] seconds: f64,
    label: Option<String>,
    ctx: Context,
) -> Result<String, CallError> {
    ctx.sleep("compute", Duration::from_secs_f64(seconds)).await?;
    let label = label.unwrap_or_default();
    Ok(format!("Computation \"{label}\" completed after {seconds} seconds. Result: 42."))
}

/// Ends with an error that the model reads.
#[tool(task(required))]
pub async fn failing_job() -> Result<(), CallError> {
    sleep(Duration::from_secs(1)).await;
    Err(CallError::new("this job always fails"))
}

/// Ends with an error of the protocol.
#[tool(task)]
pub async fn protocol_error_job() -> Result<(), CallError> {
    Err(CallError::protocol(error_code::INTERNAL_ERROR, "this job always ends in an error of the protocol", None))
}

/// Deletes a file if the user agrees. The task asks.
#[tool(task)]
pub async fn confirm_delete(filename: String, ctx: Context) -> Result<String, CallError> {
    let Deletion { confirm } = ctx.ask("confirm", Ask::user(format!("Delete '{filename}'?"))).await?;
    Ok(format!("{} '{filename}'", if confirm { "deleted" } else { "kept" }))
}

/// Asks two things at once.
#[tool(task)]
pub async fn multi_input(ctx: Context) -> Result<String, CallError> {
    let (UserName { name }, Deletion { confirm }) = tokio::try_join!(
        ctx.ask("name", Ask::user("What is your name?")),
        ctx.ask("confirm", Ask::user("Do you agree?")),
    )?;
    Ok(format!("name=\"{name}\" confirmed={confirm}"))
}

#[resolver]
pub fn user_name() -> Ask<UserName> {
    Ask::user("What is your name?")
}

/// Asks in a round, and then makes a task.
#[tool(task(required))]
pub async fn test_tool_with_task(#[resolve(user_name)] user: &UserName) -> String {
    format!("Hello, {}! (computed in task)", user.name)
}
