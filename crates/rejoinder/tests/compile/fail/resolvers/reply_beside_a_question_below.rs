// 17:25: prompt `plan` makes its rounds by hand (`Rounds`, `Reply`), but resolver `sure` (reply_beside_a_question_below.rs:5) asks too: ask in one of the two places only
use rejoinder::prelude::*;

#[resolver]
fn sure() -> Ask<bool> {
    Ask::confirm("Sure?")
}

#[resolver]
fn twice(#[resolve(sure)] sure: bool) -> u8 {
    u8::from(sure) * 2
}

type Replied = Result<Reply<u8>, CallError>;

#[prompt]
async fn plan(#[resolve(twice)] twice: u8, _rounds: Rounds) -> Result<Reply<String>, CallError> {
    Ok(Reply::done(twice.to_string()))
}

fn main() {}
