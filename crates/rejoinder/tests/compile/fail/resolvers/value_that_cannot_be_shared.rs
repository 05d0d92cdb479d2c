use rejoinder::prelude::*;

#[resolver]
fn size() -> std::cell::Cell<usize> {
    std::cell::Cell::new(3)
}

#[tool]
fn delete(#[resolve(size)] size: &std::cell::Cell<usize>) -> String {
    size.get().to_string()
}

fn main() {
    let _ = tools![delete];
}
