// 10:9: a step ends with a `Result<_, CallError>`: write `|| async { Ok(value) }`; `?` converts errors for the log, and `.map_err(IntoCallError::into_call_error)` those of your own type
use rejoinder::prelude::*;

async fn charge() -> Result<u8, std::io::Error> {
    Ok(1)
}

#[tool]
async fn buy(ctx: Context) -> Result<u8, CallError> {
    ctx.once("charge", || charge()).await
}

fn main() {}
