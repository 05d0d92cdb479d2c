// 9:23: `Sum` cannot be a structured result
use rejoinder::prelude::*;

struct Sum(i64);

type Replied<T> = Result<Reply<T>, CallError>;

#[tool]
fn carried(a: i64) -> Replied<Json<Sum>> {
    Ok(Reply::done(Json(Sum(a))))
}

fn main() {}
