// 5:16: `#[arg]` takes options such as `name = ..`: expected identifier, found keyword `enum`; for a choice of texts, write an enum that derives `Deserialize` and `JsonSchema`
use rejoinder::prelude::*;

#[tool]
fn paint(#[arg(enum = ["red", "blue"])] color: String) -> String {
    color
}

fn main() {}
