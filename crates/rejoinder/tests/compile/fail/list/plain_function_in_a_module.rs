// 11:20: this does not name a `rejoinder::Tool`
use rejoinder::prelude::*;

mod nested {
    pub fn plain(id: u32) -> u32 {
        id
    }
}

fn main() {
    let _ = tools![nested::plain];
}
