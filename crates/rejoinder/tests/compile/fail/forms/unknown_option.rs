// 6:14: `#[elicit]` has no option `titel`; did you mean `title`? the options are `title`, `description`, `default`, `name`, `format`, `pattern`, `min_length`, `max_length`, `min`, `max`, `min_items`, `max_items`
use rejoinder::prelude::*;

#[derive(Elicit)]
struct Name {
    #[elicit(titel = "Your name")]
    name: String,
}

fn main() {}
