// 14:20: expected type, found module `__rj0_name_a_function_of_the_module_triage`
use rejoinder::prelude::*;

mod triage {
    use rejoinder::prelude::*;

    #[tool]
    pub(super) fn triage() {}
}

use triage::*;

fn main() {
    let _ = tools![triage];
}
