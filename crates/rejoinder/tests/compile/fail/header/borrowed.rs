// 5:27: a header is an owned value: write `String` instead of `&str`
use rejoinder::prelude::*;

#[resolver]
fn user(#[header] x_user: &str) -> String {
    x_user.to_owned()
}

fn main() {}
