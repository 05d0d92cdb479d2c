// 18:15: this parameter can come from the model or from the server: write `#[arg]` or `#[inject]` before it
use rejoinder::prelude::*;

use rejoinder::{Call, FromCall};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Who {
    name: String,
}

impl FromCall for Who {
    async fn from_call(_: &Call, _: &'static str) -> Result<Self, CallError> {
        Ok(Self { name: String::new() })
    }
}

#[tool]
fn greet(who: Who) -> String {
    who.name
}

fn main() {}
