// 5:6: a choice needs at least one variant
use rejoinder::prelude::*;

#[derive(ElicitEnum)]
enum Never {}

fn main() {}
