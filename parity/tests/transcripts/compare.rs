//! What differs, and whether it is meant to.

use std::fmt::{self, Write};

use serde_json::Value;

use crate::{recorded::Case, seen::Seen};

/// One thing that is not as it was recorded.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Difference {
    pub(crate) era: &'static str,
    pub(crate) case: String,
    pub(crate) step: usize,
    pub(crate) field: String,
    pub(crate) theirs: Value,
    pub(crate) ours: Value,
}

/// A reason, and all that differs because of it.
pub(crate) struct Purpose {
    pub(crate) why: &'static str,
    pub(crate) differences: Vec<Difference>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { era, case, step, field, theirs, ours } = self;
        writeln!(f, "{case} ({era}), step {step}, {field}\n    theirs: {theirs}\n    ours:   {ours}")
    }
}

/// What differs in one step. What could not be seen of ours, such as the status of a pipe, is not compared.
pub(crate) fn compare(case: &Case, step: usize, theirs: &Seen, ours: &Seen) -> Vec<Difference> {
    let differing = ours.iter().filter(|(field, value)| theirs.get(*field) != Some(value));
    let difference = |(field, value): (&&'static str, &Value)| Difference {
        era: case.era,
        case: case.name.clone(),
        step,
        field: (*field).to_owned(),
        theirs: theirs.get(field).cloned().unwrap_or_default(),
        ours: value.clone(),
    };
    differing.map(difference).collect()
}

/// Whether what was found is what is listed, no more and no less.
///
/// # Errors
///
/// Every difference that is not listed, and every one that is listed and was not found.
pub(crate) fn verdict(found: &[Difference], listed: &[Purpose]) -> Result<(), String> {
    let mut report = String::new();
    let is_listed = |one: &Difference| listed.iter().any(|purpose| purpose.differences.contains(one));
    for difference in found.iter().filter(|one| !is_listed(one)) {
        let _ = write!(report, "\nnot listed: {difference}");
    }
    for Purpose { why, differences } in listed {
        for difference in differences.iter().filter(|one| !found.contains(one)) {
            let _ = write!(report, "\nlisted, and not there: {difference}    ({why})\n");
        }
    }
    if report.is_empty() { Ok(()) } else { Err(report) }
}
