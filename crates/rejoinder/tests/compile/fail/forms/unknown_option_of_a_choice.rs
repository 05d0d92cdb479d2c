// 5:10: `#[elicit]` on a choice has no option `rename`; the options are `rename_all`, `legacy_names`, `crate`
use rejoinder::prelude::*;

#[derive(ElicitEnum)]
#[elicit(rename = "lowercase")]
enum Colour {
    Red,
}

fn main() {}
