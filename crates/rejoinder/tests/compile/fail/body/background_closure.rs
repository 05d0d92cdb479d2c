// 6:20: `{closure@background_closure.rs:6:20: 6:22}` is not a future: pass `async move { .. }` to `add`, and `async move |_| { .. }` to `defer`, `on_start` and `on_stop`
use rejoinder::prelude::*;

#[tool]
fn send(background: BackgroundTasks) -> Result<(), CallError> {
    background.add(|| async {})?;
    Ok(())
}

fn main() {}
