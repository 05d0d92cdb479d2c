// 6:14: `#[elicit]` has no option `description`; the options are `title`, `name`
use rejoinder::prelude::*;

#[derive(ElicitEnum)]
enum Colour {
    #[elicit(description = "Like blood")]
    Red,
}

fn main() {}
