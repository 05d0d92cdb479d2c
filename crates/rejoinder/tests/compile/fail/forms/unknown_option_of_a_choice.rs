// 5:10: `#[elicit]` has no option `rename`; the options are `rename_all`, `legacy_names`
use rejoinder::prelude::*;

#[derive(ElicitEnum)]
#[elicit(rename = "lowercase")]
enum Colour {
    #[elicit(description = "Like blood")]
    Red,
}

fn main() {}
