// 10:37: this `Option` is the answer, so a user who declines ends the call: return `Ask<T>` from the resolver for `None` on a decline, or take `&Option<T>` or `Option<Option<T>>`
use rejoinder::prelude::*;

#[resolver]
fn reason() -> Ask<Option<String>> {
    Ask::known(None)
}

#[tool]
fn close(#[resolve(reason)] reason: Option<String>) -> String {
    reason.unwrap_or_default()
}

fn main() {}
