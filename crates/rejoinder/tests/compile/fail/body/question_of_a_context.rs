// 6:9: a question is an `Ask` with a key: `ctx.ask("key", Ask::confirm("..")).await?`
use rejoinder::prelude::*;

#[tool]
async fn sell(ctx: Context) -> Result<bool, CallError> {
    ctx.confirm("Sure?").await
}

fn main() {}
