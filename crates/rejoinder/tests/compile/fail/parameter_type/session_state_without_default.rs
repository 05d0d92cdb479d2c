// 7:18: `Budget` cannot begin as the state of a call or a session
use rejoinder::prelude::*;

struct Budget(u32);

#[tool]
fn spend(budget: SessionState<Budget>) -> u32 {
    budget.with(|budget| budget.0)
}

fn main() {
    let _ = tools![spend];
}
