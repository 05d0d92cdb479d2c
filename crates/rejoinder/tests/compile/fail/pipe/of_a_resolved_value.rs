// 15:27: only an argument or a header passes through pipes: call the function where the value is made
use rejoinder::prelude::*;

#[pipe]
fn trim(text: String) -> String {
    text.trim().to_owned()
}

#[resolver]
fn name() -> String {
    " Ada ".to_owned()
}

#[tool]
fn greet(#[resolve(name)] #[pipe(trim)] name: String) -> String {
    name
}

fn main() {}
