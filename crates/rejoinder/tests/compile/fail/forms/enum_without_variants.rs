use rejoinder::prelude::*;

#[derive(ElicitEnum)]
enum Never {}

fn main() {}
