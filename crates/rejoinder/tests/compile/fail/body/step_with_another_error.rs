// 10:9: a step ends with a `Result<_, CallError>`: write `|| async { Ok(value) }`, with `?` for other errors
use rejoinder::prelude::*;

async fn charge() -> Result<u8, std::io::Error> {
    Ok(1)
}

#[tool]
async fn buy(ctx: Context) -> Result<u8, CallError> {
    ctx.once("charge", || charge()).await
}

fn main() {}
