// 5:27: a resolver owns its parameters: write `String` instead of `&str`, or fill it from a resolver with `#[resolve(function)]`
use rejoinder::prelude::*;

#[resolver]
fn user(#[header] x_user: &str) -> String {
    x_user.to_owned()
}

fn main() {}
