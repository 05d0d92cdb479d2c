// 7:4: function `confirm` is never used
#![deny(dead_code)]

use rejoinder::prelude::*;

#[resolver]
fn confirm() -> Ask<bool> {
    Ask::confirm("Sure?")
}

/// The model confirms: `#[resolve(confirm)]` is missing.
#[tool]
fn delete(confirm: bool) -> bool {
    confirm
}

fn main() {
    let _ = tools![delete];
}
