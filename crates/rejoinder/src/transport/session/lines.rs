use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use rmcp::transport::streamable_http_server::session::SessionId;

use super::line::Line;

/// Which request of which session.
type Key = (SessionId, u64);

/// The lines of all requests that are being served, so that a client who comes back finds its own.
#[derive(Debug, Default, Clone)]
pub(super) struct Lines(Arc<Mutex<HashMap<Key, Weak<Line>>>>);

impl Lines {
    fn state(&self) -> MutexGuard<'_, HashMap<Key, Weak<Line>>> {
        // Every statement leaves the state valid.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a line, which takes itself off when it is dropped.
    pub(super) fn add(&self, session: &SessionId, request: u64, line: impl FnOnce(Place) -> Line) -> Arc<Line> {
        let key = (SessionId::clone(session), request);
        let line = Arc::new(line(Place { lines: self.clone(), key: key.clone() }));
        self.state().insert(key, Arc::downgrade(&line));
        line
    }

    /// The line of a request that is still being served.
    pub(super) fn get(&self, session: &SessionId, request: u64) -> Option<Arc<Line>> {
        self.state().get(&(SessionId::clone(session), request))?.upgrade()
    }

    /// Ends the lines of a session.
    pub(super) fn end(&self, session: &SessionId) {
        let lines: Vec<_> =
            self.state().iter().filter(|((of, _), _)| of == session).map(|(_, line)| line.clone()).collect();
        // Not under the lock: a line that is dropped here takes itself off.
        lines.iter().filter_map(Weak::upgrade).for_each(|line| line.end());
    }

    /// How many there are.
    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.state().len()
    }
}

/// A line's place among the others.
#[derive(Debug)]
pub(super) struct Place {
    lines: Lines,
    key: Key,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.lines.state().remove(&self.key);
    }
}
