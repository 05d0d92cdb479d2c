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
