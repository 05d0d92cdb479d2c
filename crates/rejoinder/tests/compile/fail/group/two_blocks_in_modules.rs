// 9:5: duplicate definitions with name `two_blocks_with_tools__write_handlers_tools_equals_more_tools`
use rejoinder::prelude::*;

struct Shop;

mod buying {
    use rejoinder::prelude::*;

    #[handlers]
    impl super::Shop {
        #[tool]
        fn buy(&self) {}
    }
}

mod selling {
    use rejoinder::prelude::*;

    #[handlers]
    impl super::Shop {
        #[tool]
        fn sell(&self) {}
    }
}

fn main() {}
