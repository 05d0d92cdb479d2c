use rejoinder::prelude::*;

#[prompt]
fn review(#[arg(header = "Path")] path: String) -> String {
    path
}

fn main() {}
