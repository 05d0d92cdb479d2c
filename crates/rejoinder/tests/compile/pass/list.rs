//! The sound twins of `fail/list`.

#![deny(warnings)]

use rejoinder::prelude::*;

#[tool]
fn shout(word: String) -> String {
    word
}

/// A function may have the name of a crate.
#[tool]
fn core() -> String {
    String::new()
}

#[cfg(any())]
#[tool]
fn of_another_build() {}

#[prompt]
fn cry(word: String) -> String {
    word
}

mod nested {
    use rejoinder::prelude::*;

    #[tool]
    pub(super) fn whisper() {}
}

fn main() {
    #[tool]
    fn inner() {}

    let tools = tools![shout, core, #[cfg(any())] of_another_build, #[cfg(not(any()))] nested::whisper, inner];
    assert_eq!(tools.len(), 4);
    let _ = (prompts![cry], tools![], prompts![], resources![]);
}
