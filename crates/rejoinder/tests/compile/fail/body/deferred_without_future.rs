// 6:11: `()` is not a future: pass `async move { .. }` to `add`, and `async move |_| { .. }` to `defer`, `on_start` and `on_stop`
use rejoinder::prelude::*;

#[tool]
fn sell(scope: Scope) {
    scope.defer(|_| ());
}

fn main() {}
