// 5:28: the URI has no variable `page` for this argument: add `{page}` to the URI, or `{?page}` if it is optional (`{&page}` after another query variable)
use rejoinder::prelude::*;

#[resource("notes://{id}")]
fn notes(id: String, page: Option<u32>, ctx: Context) -> String {
    format!("{id} {page:?} {:?}", ctx.era())
}

fn main() {
    let _ = resources![notes];
}
