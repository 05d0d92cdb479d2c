//! The valid counterparts of `fail/resource`.

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

#[resource("notes://search?kind={kind}{&page}{&size}")]
fn search(kind: String, page: Option<u32>, size: Option<u32>) -> String {
    format!("{kind} {page:?} {size:?}")
}

#[resource("files://{root}{/path*}{.format}")]
fn file(root: String, path: String, format: String) -> String {
    root + &path + &format
}

fn main() {
    assert!(Server::new("notes", "1").resources(resources![notes, note, search, file]).check().is_ok());
}
