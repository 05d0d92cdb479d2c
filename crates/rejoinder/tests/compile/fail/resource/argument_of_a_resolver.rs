// 10:32: resolver `size` (argument_of_a_resolver.rs:5) takes the resource's argument `path: &str`, but resource `notes` has only `id: String`: add the argument to the resource, or use the name of the one that is meant
use rejoinder::prelude::*;

#[resolver]
fn size(path: &str) -> usize {
    path.len()
}

#[resource("notes://{id}")]
fn notes(id: String, #[resolve(size)] size: usize) -> String {
    format!("{id} {size}")
}

fn main() {
    let _ = resources![notes];
}
