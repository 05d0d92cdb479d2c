// 14:20: expected type, found module `__RjNamed0_triage`
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
