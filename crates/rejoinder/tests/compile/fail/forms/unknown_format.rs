// 6:23: unknown format; did you mean `date-time`? use one of `email`, `uri`, `date`, `date-time`, `uuid`, `ip`, `ipv4`, `ipv6`
use rejoinder::prelude::*;

#[derive(Elicit)]
struct When {
    #[elicit(format = "datetime")]
    at: String,
}

fn main() {}
