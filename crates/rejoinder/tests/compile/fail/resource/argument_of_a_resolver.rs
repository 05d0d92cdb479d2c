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
