use rejoinder::prelude::*;

#[resolver]
fn double(a: &u32) -> u32 {
    a * 2
}

#[tool]
fn add(b: u32, #[resolve(double)] double: u32) -> u32 {
    b + double
}

fn main() {
    let _ = tools![add];
}
