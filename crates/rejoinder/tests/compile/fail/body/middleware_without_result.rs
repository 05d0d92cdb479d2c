// 11:38: a middleware is an `async fn(OperationRequest, Next)` that returns an `OperationResult`, or a `Result` of one
use rejoinder::prelude::*;

use rejoinder::middleware::{Next, OperationRequest};

async fn log(request: OperationRequest, next: Next) {
    next.run(request).await;
}

fn main() {
    let _ = Server::new("shop", "1").middleware(log);
}
