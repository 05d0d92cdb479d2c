// 5:26: a pipe cannot return `rejoinder::Ask<bool>`
use rejoinder::prelude::*;

#[pipe]
fn sure(text: String) -> Ask<bool> {
    Ask::confirm(text)
}

fn main() {}
