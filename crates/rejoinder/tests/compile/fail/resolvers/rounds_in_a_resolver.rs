// 5:18: a resolver cannot take `Rounds`: return `Ask<T>` to ask, and take other answers with `#[resolve(..)]`
use rejoinder::prelude::*;

#[resolver]
fn stage(rounds: Rounds) -> u8 {
    rounds.state().unwrap_or(0)
}

#[tool]
async fn work(#[resolve(stage)] stage: u8) -> u8 {
    stage
}

fn main() {
    let _ = tools![work];
}
