// 5:34: resolvers need each other in a cycle: `confirm` (o8_cycle.rs:5) -> `plan` (o8_cycle.rs:10) -> `quota` (o8_cycle.rs:15) -> `confirm`; remove one of these parameters
use rejoinder::prelude::*;

#[resolver]
fn confirm(path: &str, #[resolve(plan)] plan: u8) -> u8 {
    plan + path.len() as u8
}

#[resolver]
fn plan(#[resolve(quota)] quota: u8) -> u8 {
    quota
}

#[resolver]
fn quota(#[resolve(confirm)] confirm: &u8) -> u8 {
    *confirm
}

#[tool]
fn delete(path: String, #[resolve(plan)] plan: u8, #[resolve(confirm)] confirm: u8) -> String {
    format!("{path} {plan} {confirm}")
}

fn main() {
    let _ = tools![delete];
}
