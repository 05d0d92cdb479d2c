// 14:20: expected type, found module `triage`
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
