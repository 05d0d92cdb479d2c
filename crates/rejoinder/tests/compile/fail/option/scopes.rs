// 4:17: mismatched types
use rejoinder::prelude::*;

#[tool(scopes = "files:write")]
async fn write() -> &'static str {
    "written"
}

fn main() {}
