// 10:41: resolver `size` (argument_that_is_injected.rs:5) takes the tool's argument `files: &str`, but tool `delete` has `files: Dep<String>` from the server: take it with that type, or rename it
use rejoinder::prelude::*;

#[resolver]
fn size(files: &str) -> usize {
    files.len()
}

#[tool]
fn delete(files: Dep<String>, #[resolve(size)] size: usize) -> String {
    format!("{} {size}", *files)
}

fn main() {
    let _ = tools![delete];
}
