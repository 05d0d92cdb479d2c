// 5:28: `ParseIntError` cannot be the error of a pipe
use rejoinder::prelude::*;

#[pipe]
fn number(text: String) -> Result<u32, std::num::ParseIntError> {
    text.parse()
}

fn main() {}
