use rejoinder::prelude::*;

#[resource("notes://{id}")]
fn notes(id: String, #[arg(default = 1)] page: u32) -> String {
    format!("{id} {page}")
}

fn main() {}
