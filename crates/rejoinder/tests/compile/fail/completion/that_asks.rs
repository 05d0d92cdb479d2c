// 10:47: resolver `genre` (that_asks.rs:5) asks, but a completion function cannot ask: use a resolver that does not, here and below
use rejoinder::{call::CompletionRequest, prelude::*};

#[resolver]
fn genre() -> Ask<String> {
    Ask::text("Which genre?")
}

#[completion]
fn titles(typed: CompletionRequest, #[resolve(genre)] genre: &str) -> Vec<String> {
    vec![format!("{genre} {}", typed.value)]
}

fn main() {}
