// 5:10: `#[elicit]` on a form has no option `title`; the options are `crate`
use rejoinder::prelude::*;

#[derive(Elicit)]
#[elicit(title = "Your name")]
struct Name {
    name: String,
}

fn main() {}
