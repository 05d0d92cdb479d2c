// 7:10: future cannot be sent between threads safely
use rejoinder::prelude::*;

use std::rc::Rc;

#[tool]
async fn shout(word: String, ctx: Context) -> String {
    let word = Rc::new(word);
    ctx.info("shouting").await;
    word.to_uppercase()
}

fn main() {}
