// 5:21: `rejoinder::Context` cannot be an argument
use rejoinder::prelude::*;

#[resolver]
fn size(#[arg] ctx: Context) -> usize {
    ctx.request_id().len()
}

#[tool]
fn delete(#[resolve(size)] size: usize) -> String {
    size.to_string()
}

fn main() {
    let _ = tools![delete];
}
