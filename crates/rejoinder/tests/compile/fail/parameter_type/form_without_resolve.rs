// 15:31: this type is a form that the user fills in: write `#[resolve(function)]` before the parameter to ask the user, or `#[arg]` if the model may fill it in
use rejoinder::prelude::*;

#[derive(Elicit, serde::Deserialize, schemars::JsonSchema)]
struct Approval {
    approved: bool,
}

#[resolver]
fn approval(amount: u32) -> Ask<Approval> {
    Ask::user(format!("Pay {amount}?"))
}

#[tool]
fn pay(amount: u32, approval: Approval) -> String {
    format!("{amount} {}", approval.approved)
}

fn main() {
    let _ = (tools![pay], approval(1));
}
