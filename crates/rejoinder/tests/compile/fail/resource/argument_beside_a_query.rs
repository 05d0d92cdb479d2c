use rejoinder::prelude::*;

#[resource("notes://all{?kind}")]
fn notes(kind: Option<String>, #[arg(default = 1)] page: u32, size: Option<u32>) -> String {
    format!("{kind:?} {page} {size:?}")
}

#[resource("notes://old?kind={kind}")]
fn old(kind: String, size: Option<u32>) -> String {
    format!("{kind:?} {size:?}")
}

fn main() {
    let _ = resources![notes, old];
}
