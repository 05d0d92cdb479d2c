// 4:17: `scopes` is a list: `scopes = ["files:write"]`
use rejoinder::prelude::*;

#[tool(scopes = "files:write")]
async fn write() -> &'static str {
    "written"
}

fn main() {}
