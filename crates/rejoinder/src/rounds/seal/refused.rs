use std::fmt;

/// What stands in `data.reason` of the one error with which every bad state is refused.
pub(crate) const REASON: &str = "invalid_request_state";

/// The one sentence of that error.
pub(crate) const SENTENCE: &str = "`requestState` is not valid for this request; make the request again without it";

/// A state that was refused.
///
/// To the client one refusal looks like any other, or it would tell a forger how far a forgery came: `Display` and
/// `Debug` say nothing more. Why it was refused has gone to the log.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refused(Reason);

/// Why a state is refused: for the log only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    NotText,
    TooLong,
    Malformed,
    UnknownKey,
    Broken,
    Envelope,
    FromTheFuture,
    Expired,
    Request,
    Arguments,
    Audience,
    PrincipalGone,
    PrincipalCame,
    Principal,
    Spent,
    Store,
    Session,
}

impl Reason {
    fn text(self) -> &'static str {
        match self {
            Self::NotText => "it is not a string",
            Self::TooLong => "it is longer than any this server makes",
            Self::Malformed => "it is not in the form of a sealed state",
            Self::UnknownKey => {
                "its key is not one of this server's: is REJOINDER_STATE_KEYS the same for all of its processes?"
            }
            Self::Broken => "its seal is broken",
            Self::Envelope => "what is sealed in it is not an envelope this version reads",
            Self::FromTheFuture => "it was sealed in the future: do the clocks of your servers agree?",
            Self::Expired => "it has expired",
            Self::Request => "it belongs to another method, tool, prompt or resource",
            Self::Arguments => "it belongs to a call with other arguments",
            Self::Audience => "it belongs to another server",
            Self::PrincipalGone => "it belongs to a caller, and this request has none",
            Self::PrincipalCame => "it belongs to a request without a caller, and this one has one",
            Self::Principal => "it belongs to another caller",
            Self::Spent => "it was redeemed before",
            Self::Session => "calls of a session have none: this server gives them out in the stateless era only",
            Self::Store => "the store of spent states failed, so nothing can be redeemed",
        }
    }
}

impl Refused {
    /// Refuses, and tells the log why. Neither the state nor anything in it is logged.
    pub(super) fn because(reason: Reason, method: &str) -> Self {
        tracing::warn!(method, reason = reason.text(), "refused a requestState");
        Self(reason)
    }

    /// Refuses a `requestState` that is not even a string.
    pub(crate) fn not_text(method: &str) -> Self {
        Self::because(Reason::NotText, method)
    }

    /// Refuses a `requestState` where there can be none.
    pub(crate) fn in_session(method: &str) -> Self {
        Self::because(Reason::Session, method)
    }

    #[cfg(test)]
    pub(super) fn reason(self) -> Reason {
        self.0
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(SENTENCE)
    }
}

impl fmt::Debug for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Refused")
    }
}

impl std::error::Error for Refused {}
