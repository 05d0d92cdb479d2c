// 5:1: a function is one of tool, prompt, resource, resolver, pipe and completion: remove one of the attributes
use rejoinder::prelude::*;

#[tool]
#[resolver]
fn size(path: String) -> usize {
    path.len()
}

fn main() {
    let _ = tools![size];
}
