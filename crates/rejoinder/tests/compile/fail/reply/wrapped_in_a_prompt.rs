// 9:24: a prompt cannot return `rejoinder::Json<i64>`
use rejoinder::prelude::*;

struct Sum(i64);

type Replied<T> = Result<Reply<T>, CallError>;

#[prompt]
fn prompted(a: i64) -> Result<Json<i64>, CallError> {
    Ok(Json(a))
}

fn main() {}
