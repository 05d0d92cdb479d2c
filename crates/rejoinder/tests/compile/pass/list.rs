//! The valid counterparts of `fail/list`.

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

/// A module and the tool in it may share a name.
mod triage {
    use rejoinder::prelude::*;

    #[tool]
    pub(super) fn triage() {}
}

/// `::` before the name means the crate.
#[tool]
fn serde_json() -> String {
    ::serde_json::Value::Null.to_string()
}

/// Names that the function declares are its own.
#[tool]
fn size() -> usize {
    mod size {
        pub(super) const LARGE: usize = 3;
    }
    size::LARGE
}

/// A list of what another macro takes.
macro_rules! listed {
    ($($path:path),*) => { tools![$(#[cfg(any())] $path,)* $($path),*] };
}

fn main() {
    #[tool]
    fn inner() {}

    assert_eq!(listed![shout, nested::whisper].len(), 2);

    let tools = tools![shout, core, #[cfg(any())] of_another_build, #[cfg(not(any()))] nested::whisper, inner];
    assert_eq!(tools.len(), 4);
    let (shout, size) = (tools![shout], 3);
    assert_eq!((shout.len(), tools![shout, size].len()), (1, size - 1));
    assert_eq!(tools![triage::triage, serde_json, size].len(), 3);
    let _ = (prompts![cry], tools![], prompts![], resources![]);
    assert_eq!(rejoinder_neighbour::tools().len(), 2);
}
