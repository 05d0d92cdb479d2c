// 9:22: this does not name a `rejoinder::Prompt`
use rejoinder::prelude::*;

fn plain(id: String) -> String {
    id
}

fn main() {
    let _ = prompts![plain];
}
