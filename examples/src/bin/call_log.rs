//! A log line for each operation: who wanted what, how it ended, and how long it took.

use std::time::Instant;

use rejoinder::{
    middleware::{Next, OperationRequest, OperationResult},
    prelude::*,
};

/// Logs an operation when it has ended. Arguments are not logged: they may be secret.
async fn log(request: OperationRequest, next: Next) -> OperationResult {
    let (method, name) = (request.method(), request.name().unwrap_or_default().to_owned());
    let caller = request.principal().map_or("anonymous", Principal::subject).to_owned();
    let start = Instant::now();
    let result = next.run(request).await;
    let took = start.elapsed();
    match result.error() {
        Some(error) => tracing::warn!(method, name, caller, ?took, %error, "failed"),
        None if result.is_input_required() => tracing::info!(method, name, caller, ?took, "waits for the user"),
        None => tracing::info!(method, name, caller, ?took, "done"),
    }
    result
}

/// Divide two numbers.
#[tool(read_only)]
async fn divide(dividend: i64, divisor: i64) -> Result<i64, CallError> {
    dividend.checked_div(divisor).ok_or_else(|| CallError::new("give a divisor other than 0"))
}

#[tokio::main]
async fn main() -> rejoinder::Result<()> {
    Server::new("call_log", "1.0.0")
        .tools(tools![divide])
        .middleware(log)
        .on_stop(async |_| tracing::info!("no more calls"))
        .serve_from_args()
        .await
}
