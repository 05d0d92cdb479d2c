// 12:32: the resolver makes a `Big`, and the parameter cannot take that as a `Big`
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
