// 5:22: `rejoinder::Context` cannot be an argument
use rejoinder::prelude::*;

#[tool]
fn greet(#[arg] ctx: Context) -> String {
    ctx.request_id().to_owned()
}

fn main() {}
