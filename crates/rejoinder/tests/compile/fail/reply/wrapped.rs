// 9:19: a tool cannot return `Sum`
use rejoinder::prelude::*;

struct Sum(i64);

type Replied<T> = Result<Reply<T>, CallError>;

#[tool]
fn sum(a: i64) -> Result<Sum, CallError> {
    Ok(Sum(a))
}

#[tool]
fn carried(a: i64) -> Replied<Json<Sum>> {
    Ok(Reply::done(Json(Sum(a))))
}

#[prompt]
fn prompted(a: i64) -> Result<Json<i64>, CallError> {
    Ok(Json(a))
}

#[resource("sums://all")]
async fn read() -> Result<Reply<String>, Sum> {
    Err(Sum(0))
}

fn main() {
    let _ = (tools![sum, carried], prompts![prompted], resources![read]);
}
