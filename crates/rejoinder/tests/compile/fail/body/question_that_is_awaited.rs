// 6:34: a question is asked with a key: `ctx.ask("key", question).await?`, or by a parameter, `#[resolve(function)]`
use rejoinder::prelude::*;

#[tool]
async fn delete() -> Result<bool, CallError> {
    let sure = Ask::confirm("?").await?;
    Ok(sure)
}

fn main() {}
