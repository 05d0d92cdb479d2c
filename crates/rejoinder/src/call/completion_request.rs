use std::collections::BTreeMap;

use super::Call;

/// The input of a function marked [`#[completion]`](crate::completion): the text that the user has typed, and the
/// arguments that are already filled in.
#[derive(Debug, Clone)]
pub struct CompletionRequest {
    /// What the user has typed so far.
    pub value: String,
    /// The arguments that have been filled in already.
    pub arguments: BTreeMap<String, String>,
    /// The call, for provided services.
    pub call: Call,
}
