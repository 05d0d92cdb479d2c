//! The sound twins of `fail/resource`.

use rejoinder::prelude::*;

#[resource("notes://all")]
fn notes() -> String {
    String::new()
}

#[resource("notes://{+folder}/{id}{?page,size}", mime_type = "text/plain", ttl_ms = 5_000, public)]
async fn note(
    folder: String,
    #[arg(name = "id")] note: u64,
    #[arg(default = 1)] page: u32,
    size: Option<u32>,
    ctx: Context,
) -> String {
    format!("{folder} {note} {page} {size:?} {}", ctx.request_id())
}

fn main() {
    let _ = resources![notes, note];
}
