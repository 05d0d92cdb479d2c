// 10:43: tool `delete` makes its rounds by hand (`Rounds`, `Reply`), but resolver `sure` (rounds_beside_a_question.rs:5) asks too: ask in one of the two places only
use rejoinder::prelude::*;

#[resolver]
fn sure() -> Ask<bool> {
    Ask::confirm("Sure?")
}

#[tool]
async fn delete(rounds: Rounds, #[resolve(sure)] sure: bool) -> Reply<String> {
    Reply::done(format!("{:?} {sure}", rounds.state::<u8>()))
}

fn main() {
    let _ = tools![delete];
}
