// 5:12: the fields of a form need names: `struct Name { name: .. }`
use rejoinder::prelude::*;

#[derive(Elicit)]
struct Name(String);

fn main() {}
