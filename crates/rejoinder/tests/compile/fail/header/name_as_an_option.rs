// 5:19: the name of a header is a text and stands alone: `#[header("x-request-id")]`
use rejoinder::prelude::*;

#[tool]
fn greet(#[header(name = "x-user")] user: String) -> String {
    user
}

fn main() {}
