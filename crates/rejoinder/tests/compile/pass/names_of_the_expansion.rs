//! The user's own names may be those of variables in the expansion: a constant or a function is not taken for one.

#![allow(non_upper_case_globals, non_camel_case_types, dead_code)]

use rejoinder::{prelude::*, call::CompletionRequest};

const default: u8 = 1;
const returned: u8 = 2;
const settled: u8 = 3;
const is_optional: u8 = 4;
const keys: u8 = 5;
const by_name: u8 = 6;
const halt: u8 = 7;
const value: u8 = 8;
const KEYS: usize = 9;

#[completion]
async fn completing(typed: CompletionRequest) -> Vec<String> {
    vec![typed.value]
}

#[prompt]
fn shout(#[arg(complete = completing)] word: String) -> String {
    word
}

#[resolver]
fn many() -> [u8; KEYS] {
    [returned; KEYS]
}

#[resolver]
fn sum(#[resolve(many)] many: [u8; KEYS]) -> u32 {
    many.iter().map(|byte| u32::from(*byte)).sum()
}

#[tool]
fn count(#[arg(default = default)] by: u8, #[resolve(sum)] sum: u32, #[resolve(many)] many: [u8; KEYS]) -> u32 {
    sum + u32::from(by) + many.len() as u32
}

#[derive(ElicitEnum)]
enum Size {
    Small,
}

#[derive(Elicit)]
struct Order {
    size: Size,
}

fn main() {
    let _ = (tools![count], prompts![shout], Order::form());
}
