use rejoinder::prelude::*;

#[derive(Elicit)]
struct Name {
    name: String,
}

#[resolver(cache = false)]
fn who() -> Result<Ask<Name>, ToolError> {
    Ok(Ask::user("Who?"))
}

fn main() {}
