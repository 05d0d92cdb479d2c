// 5:14: `#[arg]` has no option `defualt`; did you mean `default`? the options are `name`, `default`, `header`, `complete`, `title`, `example`, `min`, `max`, `exclusive_min`, `exclusive_max`, `multiple_of`, `min_length`, `max_length`, `pattern`, `format`, `min_items`, `max_items`, `unique_items`
use rejoinder::prelude::*;

#[tool]
fn sum(#[arg(defualt = 1)] a: i64) -> i64 {
    a
}

#[tool]
fn lend(#[arg(default = 14, max = 30)] days: u8) -> u8 {
    days
}

fn main() {}
