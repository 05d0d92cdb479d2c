// 5:1: a function is one of tool, prompt, resource, resolver, pipe and completion: remove one of the attributes
use rejoinder::prelude::*;

#[tool]
#[resolver]
fn size(path: String) -> usize {
    path.len()
}

#[resolver]
#[rejoinder::prompt]
fn name() -> String {
    String::new()
}

#[tool]
async fn sum(path: String, #[resolve(name)] name: String) -> String {
    path + &name
}

fn main() {
    let _ = tools![size, sum];
}
