// 10:31: this type is a form that the user fills in: write `#[resolve(function)]` before the parameter to ask the user, or `#[arg]` if the model may fill it in
use rejoinder::prelude::*;

#[derive(Elicit)]
struct Approval {
    approved: bool,
}

#[tool]
fn pay(amount: u32, approval: Option<Approval>) -> String {
    format!("{amount} {}", approval.is_some_and(|approval| approval.approved))
}

fn main() {
    let _ = tools![pay];
}
