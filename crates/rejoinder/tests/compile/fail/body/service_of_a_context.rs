// 8:9: a `Context` has no services: take them as parameters, `database: Dep<Database>`
use rejoinder::prelude::*;

struct Shop;

#[tool]
fn sell(ctx: Context) {
    ctx.dependency::<Shop>();
}

fn main() {}
