// 6:18: `&str` is not a number
use rejoinder::prelude::*;

#[tool]
async fn work(ctx: Context) {
    ctx.progress("half").await;
}

fn main() {}
