// 10:47: resolver `confirm` (taken_by_name.rs:5) takes the tool's argument `x_user: &str`, but tool `whoami` has `x_user: String` from the header `x-user`: take it with `#[header]`, or rename it
use rejoinder::prelude::*;

#[resolver]
fn confirm(x_user: &str) -> Ask<bool> {
    Ask::confirm(format!("Are you {x_user}?"))
}

#[tool]
fn whoami(#[header] x_user: String, #[resolve(confirm)] sure: bool) -> String {
    format!("{x_user} {sure}")
}

fn main() {}
