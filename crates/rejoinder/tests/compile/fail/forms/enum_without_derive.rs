// 11:13: `Option<Colour>` cannot be a field of a form
use rejoinder::prelude::*;

enum Colour {
    Red,
}

#[derive(Elicit)]
struct Paint {
    #[elicit(title = "Colour")]
    colour: Option<Colour>,
}

fn main() {}
