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
