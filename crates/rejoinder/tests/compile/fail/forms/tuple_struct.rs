use rejoinder::prelude::*;

#[derive(Elicit)]
struct Name(String);

fn main() {}
