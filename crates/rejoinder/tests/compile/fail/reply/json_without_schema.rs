// 10:27: `Sum` cannot be a structured result
use rejoinder::prelude::*;

#[derive(serde::Serialize)]
struct Sum {
    total: i64,
}

#[tool]
fn sum(a: i64, b: i64) -> Json<Sum> {
    Json(Sum { total: a + b })
}

fn main() {}
