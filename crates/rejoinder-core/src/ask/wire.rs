//! The protocol's own records of samples and roots, under names that do not warn.

#![expect(deprecated, reason = "the protocol serves sampling and roots until 2027-07-28 at least")]

/// What is asked of the client's model.
pub type SampleRequest = rmcp::model::CreateMessageRequestParams;

/// What the client's model said.
pub type Sample = rmcp::model::CreateMessageResult;

/// The client's roots.
pub type Roots = rmcp::model::ListRootsResult;
