// 6:5: `(u32, String)` cannot be chosen from a list
use rejoinder::prelude::*;

#[resolver]
fn order(open: Dep<Vec<u32>>) -> Ask<String> {
    Ask::choice("Which order?", open.iter().map(|id| (*id, format!("Order {id}"))))
}

fn main() {}
