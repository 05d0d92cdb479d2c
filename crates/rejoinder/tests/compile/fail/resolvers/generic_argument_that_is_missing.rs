// 12:26: resolver `length` (generic_argument_that_is_missing.rs:7) takes the tool's argument `path: &str`, but tool `first` has no arguments: add the argument to the tool, or use the name of the one that is meant
use rejoinder::prelude::*;

struct Store<T>(Vec<T>);

#[resolver]
fn length<T: Send + Sync>(path: &str, _store: Dep<Store<T>>) -> usize {
    path.len()
}

#[tool]
async fn first(#[resolve(length::<u8>)] length: usize) -> usize {
    length
}

fn main() {}
