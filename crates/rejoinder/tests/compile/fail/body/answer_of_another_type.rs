// 6:32: an answer cannot be read as `bool`
use rejoinder::prelude::*;

#[tool]
fn delete(rounds: Rounds) -> Reply<String> {
    let sure = rounds.answer::<bool>("sure");
    Reply::done(format!("{sure:?}"))
}

fn main() {}
