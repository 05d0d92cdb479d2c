use rejoinder::prelude::*;

#[tool]
async fn restart(rounds: Rounds) -> Result<String, ToolError> {
    Ok(format!("{:?}", rounds.state::<u8>()))
}

fn main() {
    let _ = tools![restart];
}
