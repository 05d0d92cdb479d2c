// 12:32: this parameter cannot take what its resolver makes, a `Big`
use rejoinder::prelude::*;

struct Big;

#[resolver]
fn big() -> Big {
    Big
}

#[tool]
fn delete(#[resolve(big)] big: Big) -> String {
    let Big = big;
    String::new()
}

fn main() {
    let _ = tools![delete];
}
