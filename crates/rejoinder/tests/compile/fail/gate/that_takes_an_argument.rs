// 9:18: resolver `is_owner` (that_takes_an_argument.rs:5) takes the argument `path`, but a gate runs without arguments: use a resolver that takes none, here and below
use rejoinder::prelude::*;

#[resolver]
fn is_owner(path: &str) -> bool {
    path.is_empty()
}

#[tool(enabled = is_owner)]
async fn remove(path: String) -> String {
    path
}

fn main() {
    let _ = tools![remove];
}
