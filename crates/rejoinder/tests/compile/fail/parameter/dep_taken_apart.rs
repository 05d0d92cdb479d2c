// 7:9: a parameter needs a plain name: write `service: Dep<T>`, which dereferences to the value
use rejoinder::prelude::*;

struct Db;

#[tool]
fn note(Dep(db): Dep<Db>) {}

fn main() {}
