use rejoinder::prelude::*;

#[resolver]
fn size(path: &str) -> usize {
    path.len()
}

#[tool]
fn delete(file: String, force: bool, ctx: Context, #[resolve(size)] size: usize) -> String {
    format!("{file} {force} {size} {:?}", ctx.era())
}

fn main() {
    let _ = tools![delete];
}
