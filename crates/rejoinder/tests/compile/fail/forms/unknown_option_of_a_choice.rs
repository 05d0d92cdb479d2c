use rejoinder::prelude::*;

#[derive(ElicitEnum)]
#[elicit(rename = "lowercase")]
enum Colour {
    #[elicit(description = "Like blood")]
    Red,
}

fn main() {}
