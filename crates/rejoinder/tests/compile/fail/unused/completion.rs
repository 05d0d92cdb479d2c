// 7:4: function `paths` is never used
#![deny(dead_code)]

use rejoinder::prelude::*;

#[completion]
fn paths(_request: rejoinder::call::CompletionRequest) -> Vec<String> {
    Vec::new()
}

fn main() {}
