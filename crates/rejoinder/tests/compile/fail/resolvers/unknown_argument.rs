// 10:62: resolver `size` (unknown_argument.rs:5) takes the tool's argument `path: &str`, but tool `delete` has only `file: String`, `force: bool`: add the argument to the tool, or use the name of the one that is meant
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
