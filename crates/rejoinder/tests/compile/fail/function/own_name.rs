// 6:5: `serde_json` is this function, which hides a crate or module of that name: write `::serde_json` for the crate, or rename the function and keep the name with `#[tool(name = "serde_json")]`
use rejoinder::prelude::*;

#[tool]
fn serde_json() -> String {
    serde_json::Value::Null.to_string()
}

fn main() {
    let _ = tools![serde_json];
}
