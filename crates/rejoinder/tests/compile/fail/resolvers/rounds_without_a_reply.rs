use rejoinder::prelude::*;

#[tool]
async fn restart(rounds: Rounds) -> Result<String, CallError> {
    Ok(format!("{:?}", rounds.state::<u8>()))
}

fn main() {
    let _ = tools![restart];
}
