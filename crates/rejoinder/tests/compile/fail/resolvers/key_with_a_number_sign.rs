// 4:18: a key cannot contain `#`, which numbers resolvers of the same name
use rejoinder::prelude::*;

#[resolver(key = "sure#1")]
fn sure() -> Ask<bool> {
    Ask::confirm("Sure?")
}

fn main() {}
