// 5:26: a function that takes `Rounds` returns `Reply<T>`: return one, or ask with `Context::ask` and remove `Rounds`
use rejoinder::prelude::*;

#[tool]
async fn restart(rounds: Rounds) -> Result<String, CallError> {
    Ok(format!("{:?}", rounds.state::<u8>()))
}

fn main() {
    let _ = tools![restart];
}
