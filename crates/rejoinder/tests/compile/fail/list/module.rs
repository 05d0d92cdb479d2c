// 12:20: expected type, found module `__rj0_name_a_function_of_the_module_files`
use rejoinder::prelude::*;

mod files {
    use rejoinder::prelude::*;

    #[tool]
    pub(super) fn read() {}
}

fn main() {
    let _ = tools![files];
}
