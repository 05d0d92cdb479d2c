use rejoinder::prelude::*;

#[resolver]
fn size(paths: &str) -> usize {
    paths.len()
}

#[tool]
fn delete(path: String, force: bool, #[resolve(size)] size: usize) -> String {
    format!("{path} {force} {size}")
}

fn main() {
    let _ = tools![delete];
}
