// 6:20: mismatched types
use rejoinder::prelude::*;

#[derive(Elicit)]
struct Place {
    #[elicit(min = -90)]
    latitude: f64,
    #[elicit(max = 99.5)]
    percent: u8,
}

fn main() {}
