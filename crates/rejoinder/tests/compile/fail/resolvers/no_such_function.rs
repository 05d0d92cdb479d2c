use rejoinder::prelude::*;

#[tool]
fn delete(#[resolve(size)] size: usize) -> String {
    size.to_string()
}

fn main() {
    let _ = tools![delete];
}
