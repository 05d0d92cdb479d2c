// 10:26: resolver `double` (argument_of_an_unlike_name.rs:5) takes the tool's argument `a: &u32`, but tool `add` has only `b: u32`: add the argument to the tool, or use the name of the one that is meant
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
