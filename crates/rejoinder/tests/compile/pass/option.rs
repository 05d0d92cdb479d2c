//! The valid counterparts of `fail/option`.

use rejoinder::prelude::*;

const TITLE: &str = "Shout";

#[tool(
    name = "shout.it-1",
    title = TITLE,
    description = concat!("Shouts", " it."),
    read_only,
    destructive = false,
    idempotent = true,
    open_world = false,
    timeout = "500ms",
    icon(src = "https://example.com/a.png", mime_type = "image/png", sizes = "48x48 96x96"),
    icon(src = "https://example.com/b.svg"),
)]
fn shout(word: String) -> String {
    word
}

#[tool(name = "greater")]
fn größer(a: i64) -> i64 {
    a
}

#[tool()]
#[doc = include_str!("option.rs")]
fn documented() {}

fn main() {
    let _ = tools![shout, größer, documented];
}
