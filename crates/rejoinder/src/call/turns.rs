use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::OwnedMutexGuard;

/// Lets those who come under the same key go one after the other.
#[derive(Debug, Default)]
pub(crate) struct Turns(Mutex<BTreeMap<String, Arc<tokio::sync::Mutex<()>>>>);

/// Somebody's turn, until it is dropped; see [`Turns::take`].
#[derive(Debug)]
pub(crate) struct Turn {
    _turn: OwnedMutexGuard<()>,
}

impl Turns {
    /// Waits until nobody else has their turn under this key.
    pub(crate) async fn take(&self, key: &str) -> Turn {
        let turn = {
            // Every statement leaves it valid.
            let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(turns.entry(key.to_owned()).or_default())
        };
        Turn { _turn: turn.lock_owned().await }
    }
}
