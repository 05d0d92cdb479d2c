// 10:13: a resolver that asks runs once in a round: remove `cache = false`
use rejoinder::prelude::*;

#[derive(Elicit)]
struct Name {
    name: String,
}

#[resolver(cache = false)]
fn who() -> Result<Ask<Name>, CallError> {
    Ok(Ask::user("Who?"))
}

fn main() {}
