//! Which questions a client can be asked, and in which words.

use serde_json::{Value, json};

use super::Question;
use crate::{
    call::{Era, RequestInfo},
    error::CallError,
};

/// The version that brought elicitation.
const ELICITATION: &str = "2025-06-18";

/// The version that brought several of a list, titles of choices as `oneOf`, defaults for all fields, visits, and tools for
/// the client's model.
const RICHER_FORMS: &str = "2025-11-25";

impl Question {
    /// Why the client of such a request cannot be asked this, if it cannot: it did not say that it can, or its session
    /// speaks a version that has no words for it.
    pub(crate) fn out_of_reach(&self, facts: &RequestInfo) -> Option<CallError> {
        if let Some(missing) = self.missing_capability(&facts.capabilities) {
            return Some(CallError::missing_capability(missing));
        }
        let speaks = facts.protocol_version;
        if facts.era != Era::Session || speaks >= RICHER_FORMS {
            return None;
        }
        let (what, since, required) = match self {
            Self::Form { form, .. } if form.to_older_value().is_none() => {
                ("to choose several of a list", RICHER_FORMS, json!({ "elicitation": { "form": {} } }))
            }
            Self::Form { .. } => ("to fill in forms", ELICITATION, json!({ "elicitation": { "form": {} } })),
            Self::Visit { .. } => ("to send the user to a page", RICHER_FORMS, json!({ "elicitation": { "url": {} } })),
            Self::Sample(sampling) if sampling.has_tools() => {
                ("to let its model use tools", RICHER_FORMS, json!({ "sampling": { "tools": {} } }))
            }
            Self::Sample(_) | Self::Roots => return None,
        };
        (speaks < since).then(|| CallError::too_old(what, speaks, since, required))
    }

    /// The params of the request, as JSON, in the words of a session that speaks this version.
    pub fn params_in(&self, version: &str) -> Value {
        let mut params = self.params();
        if let Self::Form { form, .. } = self
            && version < RICHER_FORMS
            && let (Some(params), Some(older)) = (params.as_object_mut(), form.to_older_value())
        {
            // There was no other mode.
            params.remove("mode");
            params.insert("requestedSchema".to_owned(), older);
        }
        params
    }
}
