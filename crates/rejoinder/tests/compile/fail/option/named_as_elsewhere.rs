// 4:27: `#[resource]` has no option `mime`; did you mean `mime_type`? the options are `name`, `title`, `description`, `icon`, `timeout`, `enabled`, `scopes`, `mime_type`, `ttl_ms`, `public`, `crate`
use rejoinder::prelude::*;

#[resource("notes://all", mime = "text/plain")]
fn all() -> &'static str {
    "none"
}

fn main() {}
