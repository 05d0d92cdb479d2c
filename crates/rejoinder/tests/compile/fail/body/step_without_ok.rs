// 6:9: a step ends with a `Result<_, CallError>`: write `|| async { Ok(value) }`, with `?` for other errors
use rejoinder::prelude::*;

#[tool]
async fn add(ctx: Context, a: u8) -> Result<u8, CallError> {
    ctx.once("add", || async { a + 1 }).await
}

fn main() {}
