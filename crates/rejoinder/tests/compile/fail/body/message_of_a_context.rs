// 6:9: a client hears of progress and logs while a call runs, `ctx.progress(1).message("..").await` and `ctx.info("..").await`
use rejoinder::prelude::*;

#[tool]
fn work(ctx: Context) {
    ctx.send("half done");
}

fn main() {}
