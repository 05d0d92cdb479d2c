use rejoinder::prelude::*;

#[tool]
async fn translate(text: String, #[resolve(rejoinder_neighbour::sure)] sure: bool) -> String {
    format!("{text} {sure}")
}

fn main() {
    let _ = tools![translate];
}
