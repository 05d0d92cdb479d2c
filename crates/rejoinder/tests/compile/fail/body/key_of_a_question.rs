// 6:13: the key comes first, and is a text: `ctx.ask("key", question)`, `ctx.once("key", || ..)`
use rejoinder::prelude::*;

#[tool]
async fn delete(ctx: Context) -> Result<bool, CallError> {
    ctx.ask(Ask::confirm("Sure?")).await
}

fn main() {}
