// 6:20: a background task is a future: pass `async move { .. }`, or a call of an `async fn`
use rejoinder::prelude::*;

#[tool]
fn send(background: BackgroundTasks) -> Result<(), CallError> {
    background.add(|| async {})?;
    Ok(())
}

fn main() {}
