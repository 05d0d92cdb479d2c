// 11:16: `Size` has no default of its own
use rejoinder::prelude::*;

#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
enum Size {
    Small,
    Large,
}

#[tool]
fn price(#[arg(default)] size: Size) -> i64 {
    match size {
        Size::Small => 1,
        Size::Large => 2,
    }
}

fn main() {}
