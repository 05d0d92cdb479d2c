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
