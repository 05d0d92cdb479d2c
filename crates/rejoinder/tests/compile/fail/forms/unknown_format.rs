use rejoinder::prelude::*;

#[derive(Elicit)]
struct When {
    #[elicit(format = "datetime")]
    at: String,
}

fn main() {}
