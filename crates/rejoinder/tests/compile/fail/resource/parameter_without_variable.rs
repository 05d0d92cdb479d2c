use rejoinder::prelude::*;

#[resource("notes://{id}")]
fn notes(id: String, page: Option<u32>, ctx: Context) -> String {
    format!("{id} {page:?} {:?}", ctx.era())
}

fn main() {
    let _ = resources![notes];
}
