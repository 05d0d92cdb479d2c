// 7:33: a tool cannot return `Sum`
use rejoinder::prelude::*;

struct Sum(i64);

#[tool]
async fn sum(a: i64, b: i64) -> Sum {
    Sum(a + b)
}

fn main() {}
