// 5:17: `str::trim` is a method: only a function outside of `impl` blocks can be named here, so move it out of its block
use rejoinder::prelude::*;

#[tool]
fn greet(#[pipe(str::trim)] name: String) -> String {
    name
}

fn main() {}
