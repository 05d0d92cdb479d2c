// 10:34: this parameter cannot take what its resolver makes, a `String`
use rejoinder::prelude::*;

#[resolver]
fn name() -> Ask<String> {
    Ask::text("Who?")
}

#[tool]
fn delete(#[resolve(name)] name: Ask<String>) {
    let _ = name;
}

fn main() {}
