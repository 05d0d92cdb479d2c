// 13:14: `Address` cannot be a field of a form
use rejoinder::prelude::*;

/// A form itself, which does not make it a field.
#[derive(Elicit)]
struct Address {
    street: String,
}

#[derive(Elicit)]
struct Person {
    name: String,
    address: Address,
}

fn main() {}
