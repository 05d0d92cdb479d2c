//! The sound twins of `fail/list`.

use rejoinder::prelude::*;

#[tool]
fn shout(word: String) -> String {
    word
}

#[prompt]
fn cry(word: String) -> String {
    word
}

fn main() {
    let _ = (tools![shout], prompts![cry], tools![], prompts![], resources![]);
}
