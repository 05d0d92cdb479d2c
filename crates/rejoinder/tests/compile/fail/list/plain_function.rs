// 9:20: expected type, found function `plain`
use rejoinder::prelude::*;

fn plain(id: u32) -> u32 {
    id
}

fn main() {
    let _ = tools![plain];
}
