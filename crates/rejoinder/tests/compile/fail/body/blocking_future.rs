// 6:29: a task that blocks is a closure, `add_blocking(move || ..)`; a future is for `add(async move { .. })`
use rejoinder::prelude::*;

#[tool]
fn work(background: BackgroundTasks) -> Result<(), CallError> {
    background.add_blocking(async {})?;
    Ok(())
}

fn main() {}
