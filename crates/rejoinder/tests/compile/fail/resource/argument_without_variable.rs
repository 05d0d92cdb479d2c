// 5:48: the URI has no variable `page` for this argument: add `{page}` to the URI, or `{?page}` if it is optional (`{&page}` after another query variable)
use rejoinder::prelude::*;

#[resource("notes://{id}")]
fn notes(id: String, #[arg(default = 1)] page: u32) -> String {
    format!("{id} {page}")
}

fn main() {}
