// 17:13: a tool with `self` needs `#[handlers]` on the `impl` block around it
use rejoinder::prelude::*;

mod other {
    pub use rejoinder::tool;
}

struct Shop;

#[handlers]
impl Shop {
    #[rejoinder::tool]
    fn buy(&self) {}

    /// Only what is called as ours is ours.
    #[other::tool]
    fn sell(&self) {}
}

fn main() {}
