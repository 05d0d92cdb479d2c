// 10:19: implementation of `_serde::Deserialize` is not general enough
use rejoinder::prelude::*;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Filter<'a> {
    word: &'a str,
}

#[tool]
fn search(filter: Filter<'static>) -> String {
    filter.word.to_owned()
}

fn main() {
    let _ = tools![search];
}
