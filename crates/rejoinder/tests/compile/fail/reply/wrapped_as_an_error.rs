// 9:20: `Sum` cannot be the error of a tool, prompt, resource or resolver
use rejoinder::prelude::*;

struct Sum(i64);

type Replied<T> = Result<Reply<T>, CallError>;

#[resource("sums://all")]
async fn read() -> Result<Reply<String>, Sum> {
    Err(Sum(0))
}

fn main() {}
