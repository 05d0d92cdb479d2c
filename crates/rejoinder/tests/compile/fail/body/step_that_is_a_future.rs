// 10:24: a step is a closure, because it does not always run: `ctx.once("key", || work())`
use rejoinder::prelude::*;

async fn charge() -> Result<u8, CallError> {
    Ok(1)
}

#[tool]
async fn buy(ctx: Context) -> Result<u8, CallError> {
    ctx.once("charge", charge()).await
}

fn main() {}
