use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::call::{Era, RequestInfo};
use http::request::Parts;
use rmcp::transport::streamable_http_server::session::SessionId;

use crate::{protocol::RpcError, server::Engine};

/// Who a request is from.
pub(super) type Owner = Option<String>;

/// Who began each session. Where the server tells callers apart, an id that somebody saw or guessed is of no use to
/// anybody else.
#[derive(Debug, Default)]
pub(super) struct Owners(Mutex<HashMap<SessionId, Owner>>);

impl Owners {
    /// Whose request it is; `None` where callers are not told apart.
    ///
    /// # Errors
    ///
    /// If the author's function that tells them apart panicked.
    pub(super) fn of(engine: &Engine, parts: &Parts) -> Result<Option<Owner>, RpcError> {
        if !engine.options.principal.is_known() {
            return Ok(None);
        }
        let http = Some(Box::new((parts.headers.clone(), parts.extensions.clone())));
        let owner = engine.caller(&RequestInfo { http, era: Era::Session, ..RequestInfo::default() });
        owner.map(Some).map_err(RpcError::from)
    }

    fn state(&self) -> MutexGuard<'_, HashMap<SessionId, Owner>> {
        // Every statement leaves the state valid.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes who began a session.
    pub(super) fn note(&self, session: SessionId, owner: Owner) {
        self.state().insert(session, owner);
    }

    /// Whether the session is that caller's.
    pub(super) fn is_of(&self, session: &SessionId, owner: &Owner) -> bool {
        self.state().get(session) == Some(owner)
    }

    pub(super) fn forget(&self, session: &SessionId) {
        self.state().remove(session);
    }
}
