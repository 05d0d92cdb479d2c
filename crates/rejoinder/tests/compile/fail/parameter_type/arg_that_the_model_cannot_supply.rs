use rejoinder::prelude::*;

#[tool]
fn greet(#[arg] ctx: Context) -> String {
    ctx.request_id().to_owned()
}

fn main() {}
