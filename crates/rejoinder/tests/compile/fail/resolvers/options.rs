// 4:12: `#[resolver]` has no option `kye`; the options are `key`, `cache`, `crate`
use rejoinder::prelude::*;

#[resolver(kye = "a")]
fn misspelt() -> u8 {
    0
}

#[resolver(key = "")]
fn nameless() -> u8 {
    0
}

#[resolver(cache = 3)]
fn flag() -> u8 {
    0
}

#[resolver]
fn default(#[arg(default = 3)] n: u8, #[arg(header = "N")] m: u8) -> u8 {
    n + m
}

#[tool]
fn sum(#[resolve] a: u8, #[resolve(flag)] #[arg] b: u8, #[resolve(flag())] c: u8) -> u8 {
    a + b + c
}

fn main() {}
