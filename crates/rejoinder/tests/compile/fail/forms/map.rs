use std::collections::HashMap;

use rejoinder::prelude::*;

#[derive(Elicit)]
struct Settings {
    values: HashMap<String, String>,
}

fn main() {}
