// 6:9: a step ends with a `Result<_, CallError>`: write `|| async { Ok(value) }`; `?` converts errors for the log, and `.map_err(IntoCallError::into_call_error)` those of your own type
use rejoinder::prelude::*;

#[tool]
async fn add(ctx: Context, a: u8) -> Result<u8, CallError> {
    ctx.once("add", || Ok(a + 1)).await
}

fn main() {}
