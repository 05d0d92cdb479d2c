// 11:38: a middleware is an `async fn(OperationRequest, Next)` that returns an `OperationResult`, or a `Result` of one
use rejoinder::prelude::*;

use rejoinder::middleware::{Next, OperationRequest, OperationResult};

fn log(_: OperationRequest, _: Next) -> OperationResult {
    CallError::new("closed").into()
}

fn main() {
    let _ = Server::new("shop", "1").middleware(log);
}
