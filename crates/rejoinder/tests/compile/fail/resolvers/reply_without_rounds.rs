// 5:34: a function that returns `Reply<T>` takes `Rounds`, which has the answers: add `rounds: Rounds` to its parameters
use rejoinder::prelude::*;

#[tool]
async fn delete(path: String) -> Result<Reply<String>, CallError> {
    Ok(Reply::ask("sure", Ask::confirm(format!("Delete {path}?"))))
}

fn main() {
    let _ = tools![delete];
}
