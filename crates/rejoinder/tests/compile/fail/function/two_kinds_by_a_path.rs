// 5:1: a function is one of tool, prompt, resource, resolver, pipe and completion: remove one of the attributes
use rejoinder::prelude::*;

#[resolver]
#[rejoinder::prompt]
fn name() -> String {
    String::new()
}

fn main() {}
