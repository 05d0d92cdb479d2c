use rejoinder::prelude::*;

// What is wrong with a resolver is told where it is, and nowhere else.
#[resolver(kye = "sizes")]
fn size() -> usize {
    3
}

#[tool]
fn delete(#[resolve(size)] size: usize) -> String {
    size.to_string()
}

fn main() {
    let _ = tools![delete];
}
