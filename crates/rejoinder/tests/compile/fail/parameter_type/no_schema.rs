// 10:18: `std::option::Option<Filter>` cannot be an argument
use rejoinder::prelude::*;

#[derive(serde::Deserialize)]
struct Filter {
    word: String,
}

#[tool]
fn count(filter: Option<Filter>) -> String {
    filter.map(|filter| filter.word).unwrap_or_default()
}

fn main() {}
