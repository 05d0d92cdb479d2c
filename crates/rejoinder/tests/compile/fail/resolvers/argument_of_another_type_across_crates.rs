// 5:49: the argument is a `Vec<String>`, but a resolver takes it as a `String`
use rejoinder::prelude::*;

#[tool]
async fn translate(path: Vec<String>, #[resolve(rejoinder_neighbour::sure)] sure: bool) -> String {
    format!("{path:?} {sure}")
}

fn main() {
    let _ = tools![translate];
}
