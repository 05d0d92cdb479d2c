// 4:13: an icon needs its address: `icon(src = "..")`
use rejoinder::prelude::*;

#[tool(icon(mime_type = "image/png"))]
fn shout(word: String) -> String {
    word
}

fn main() {}
