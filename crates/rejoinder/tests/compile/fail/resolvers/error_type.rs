use rejoinder::prelude::*;

#[resolver]
fn size() -> Result<usize, String> {
    Ok(3)
}

#[tool]
fn delete(#[resolve(size)] size: usize) -> String {
    size.to_string()
}

fn main() {
    let _ = tools![delete];
}
