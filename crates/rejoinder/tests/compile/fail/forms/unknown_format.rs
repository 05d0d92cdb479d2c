// 6:23: unknown format; did you mean `date-time`? use one of `email`, `uri`, `date`, `date-time`
use rejoinder::prelude::*;

#[derive(Elicit)]
struct When {
    #[elicit(format = "datetime")]
    at: String,
}

fn main() {}
