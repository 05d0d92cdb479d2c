// 6:14: `#[elicit]` has no option `titel`; did you mean `title`? the options are `description`, `default`, `name`, `title`, `example`, `min`, `max`, `exclusive_min`, `exclusive_max`, `multiple_of`, `min_length`, `max_length`, `pattern`, `format`, `min_items`, `max_items`, `unique_items`
use rejoinder::prelude::*;

#[derive(Elicit)]
struct Name {
    #[elicit(titel = "Your name")]
    name: String,
}

fn main() {}
