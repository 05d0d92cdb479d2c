// 9:24: this does not name a `rejoinder::Resource`
use rejoinder::prelude::*;

fn plain() -> String {
    String::new()
}

fn main() {
    let _ = resources![plain];
}
