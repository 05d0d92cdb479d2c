// 11:26: a default of type `Size` cannot be shown in the schema
use rejoinder::prelude::*;

#[derive(serde::Deserialize, schemars::JsonSchema)]
enum Size {
    Small,
    Large,
}

#[tool]
fn price(#[arg(default = Size::Small)] size: Size) -> i64 {
    match size {
        Size::Small => 1,
        Size::Large => 2,
    }
}

fn main() {}
