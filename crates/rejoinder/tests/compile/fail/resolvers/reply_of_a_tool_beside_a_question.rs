// 17:27: tool `delete` makes its rounds by hand (`Rounds`, `Reply`), but resolver `sure` (reply_of_a_tool_beside_a_question.rs:5) asks too: ask in one of the two places only
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

#[tool]
async fn delete(#[resolve(twice)] twice: u8, _rounds: Rounds) -> Replied {
    Ok(Reply::done(twice))
}

fn main() {}
