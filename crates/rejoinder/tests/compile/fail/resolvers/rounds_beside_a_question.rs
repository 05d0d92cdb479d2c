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
