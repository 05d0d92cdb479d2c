// 5:44: resolver `language` (crates/rejoinder/tests/neighbour/src/lib.rs:9) takes the tool's argument `path: &str`, but tool `translate` has only `text: String`: add the argument to the tool, or use the name of the one that is meant
use rejoinder::prelude::*;

#[tool]
async fn translate(text: String, #[resolve(rejoinder_neighbour::sure)] sure: bool) -> String {
    format!("{text} {sure}")
}

fn main() {
    let _ = tools![translate];
}
