use rejoinder::prelude::*;

#[resource("notes://{id:3}")]
fn cut_off(id: String) -> String {
    id
}

#[resource("notes://{größe}")]
fn named(größe: String) -> String {
    größe
}

#[resource("notes://all{&page}")]
fn continued(page: Option<u32>) -> String {
    format!("{page:?}")
}

fn main() {}
