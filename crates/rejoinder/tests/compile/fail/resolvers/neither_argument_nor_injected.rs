// 7:16: `Files` is neither an argument nor something that the server supplies
use rejoinder::prelude::*;

struct Files;

#[resolver]
fn size(files: Files, more: &Files) -> usize {
    let _ = (files, more);
    3
}

#[tool]
fn delete(#[resolve(size)] size: usize) -> String {
    size.to_string()
}

fn main() {
    let _ = tools![delete];
}
