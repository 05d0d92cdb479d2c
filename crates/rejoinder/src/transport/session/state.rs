use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use crate::call::Level;
use tokio_util::sync::CancellationToken;

use super::changes::Changes;
use crate::{
    protocol::RpcError,
    server::{Calls, Engine},
};

/// What a session remembers between its requests: the only state that the server keeps for a client.
#[derive(Debug)]
pub(super) struct Session {
    begun: AtomicBool,
    level: Mutex<Level>,
    pub(super) changes: Changes,
    /// Cancelled when the server ends all sessions.
    pub(super) ending: CancellationToken,
    /// Cancelled when nothing more comes from the client, although it may still be told something.
    pub(super) unheard: CancellationToken,
    /// The calls of this session alone.
    pub(super) calls: Calls,
}

impl Session {
    /// A session that begins.
    pub(super) fn new(engine: &Engine, ending: CancellationToken) -> Self {
        // Until the client sets a level, the choice is ours: what a person would want to read, no debugging.
        Self {
            begun: AtomicBool::new(false),
            level: Mutex::new(Level::Info),
            changes: Changes::new(engine),
            ending,
            unheard: CancellationToken::new(),
            calls: Calls::default(),
        }
    }

    /// Notes that the client has introduced itself, which it may do once.
    pub(super) fn begin(&self) -> Result<(), RpcError> {
        if self.begun.swap(true, Ordering::Relaxed) {
            return Err(RpcError::invalid_request("this session is initialized already"));
        }
        Ok(())
    }

    /// The least severe log message that the client wants.
    pub(super) fn level(&self) -> Level {
        *self.level.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets it, for the calls that begin from now on.
    pub(super) fn set_level(&self, level: Level) {
        *self.level.lock().unwrap_or_else(PoisonError::into_inner) = level;
    }
}
