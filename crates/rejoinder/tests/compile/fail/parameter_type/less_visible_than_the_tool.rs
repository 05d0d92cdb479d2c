// 10:8: private type `Filter` in public interface
use rejoinder::prelude::*;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Filter {
    word: String,
}

#[tool]
pub fn count(filter: Filter) -> String {
    filter.word
}

fn main() {}
