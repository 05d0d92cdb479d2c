// 9:19: a tool cannot return `Sum`
use rejoinder::prelude::*;

struct Sum(i64);

type Replied<T> = Result<Reply<T>, CallError>;

#[tool]
fn sum(a: i64) -> Result<Sum, CallError> {
    Ok(Sum(a))
}

fn main() {}
