// 5:23: `rename_all` has no case `snakecase`; did you mean `snake_case`? use one of `lowercase`, `UPPERCASE`, `PascalCase`, `camelCase`, `snake_case`, `SCREAMING_SNAKE_CASE`, `kebab-case`, `SCREAMING-KEBAB-CASE`
use rejoinder::prelude::*;

#[derive(ElicitEnum)]
#[elicit(rename_all = "snakecase")]
enum Colour {
    Red,
}

fn main() {}
