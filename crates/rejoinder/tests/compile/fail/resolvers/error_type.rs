// 5:14: `std::io::Error` cannot be the error of a tool, prompt, resource or resolver
use rejoinder::prelude::*;

#[resolver]
fn size() -> Result<usize, std::io::Error> {
    Ok(3)
}

#[tool]
fn delete(#[resolve(size)] size: usize) -> String {
    size.to_string()
}

fn main() {
    let _ = tools![delete];
}
