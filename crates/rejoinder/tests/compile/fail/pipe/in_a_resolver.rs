// 10:19: only parameters of tools, prompts and resources have pipes: call the function in the resolver
use rejoinder::prelude::*;

#[pipe]
fn trim(text: String) -> String {
    text.trim().to_owned()
}

#[resolver]
fn user(#[header] #[pipe(trim)] x_user: String) -> String {
    x_user
}

fn main() {}
