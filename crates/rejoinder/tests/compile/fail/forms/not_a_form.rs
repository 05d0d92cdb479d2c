// 11:5: `Confirm` is not a form that the user can be asked to fill in
use rejoinder::prelude::*;

#[derive(Clone)]
struct Confirm {
    yes: bool,
}

#[resolver]
fn confirm(path: &str) -> Ask<Confirm> {
    Ask::user(format!("Delete {path}?"))
}

#[tool]
async fn delete(path: String, #[resolve(confirm)] confirm: Confirm) -> String {
    format!("{path} {}", confirm.yes)
}

fn main() {
    let _ = tools![delete];
}
