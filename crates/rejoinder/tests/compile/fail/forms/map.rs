// 8:13: `HashMap<String, String>` cannot be a field of a form
use std::collections::HashMap;

use rejoinder::prelude::*;

#[derive(Elicit)]
struct Settings {
    values: HashMap<String, String>,
}

fn main() {}
