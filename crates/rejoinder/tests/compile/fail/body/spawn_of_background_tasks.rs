// 6:16: a background task is added with `add`: `background.add(async move { .. })?`
use rejoinder::prelude::*;

#[tool]
fn note(background: BackgroundTasks) {
    background.spawn(async {});
}

fn main() {}
