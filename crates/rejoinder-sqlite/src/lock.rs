//! A file for each worker, which is locked while its process lives.

use std::{
    collections::{HashMap, hash_map::Entry},
    ffi::OsString,
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use rejoinder::tasks::WorkerId;

/// The locks of workers. The system releases them when the process dies, however it dies.
#[derive(Debug)]
pub(crate) struct WorkerLocks {
    /// The path of the database, to which the id of a worker is added.
    database: PathBuf,
    held: Mutex<HashMap<WorkerId, File>>,
}

impl WorkerLocks {
    pub(crate) fn beside(database: PathBuf) -> Self {
        Self { database, held: Mutex::default() }
    }

    pub(crate) fn database(&self) -> &Path {
        &self.database
    }

    fn held(&self) -> MutexGuard<'_, HashMap<WorkerId, File>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn path(&self, worker: WorkerId) -> PathBuf {
        let mut path = OsString::from(&self.database);
        path.push(format!("-worker-{worker}"));
        path.into()
    }

    /// Locks the file of a worker of this process.
    pub(crate) fn lock(&self, worker: WorkerId) -> io::Result<()> {
        if let Entry::Vacant(place) = self.held().entry(worker) {
            let file = File::create(self.path(worker))?;
            file.try_lock()?;
            place.insert(file);
        }
        Ok(())
    }

    /// Whether the process of a worker lives; `None` if its lock does not say: it is one of this process, or cannot be tried.
    pub(crate) fn lives(&self, worker: WorkerId) -> Option<bool> {
        if self.held().contains_key(&worker) {
            return None;
        }
        match File::options().write(true).open(self.path(worker)).ok()?.try_lock() {
            Ok(()) => Some(false),
            Err(TryLockError::WouldBlock) => Some(true),
            Err(TryLockError::Error(_)) => None,
        }
    }

    /// Whether the process of a worker has died.
    pub(crate) fn is_dead(&self, worker: WorkerId) -> bool {
        self.lives(worker) == Some(false)
    }

    /// Removes the file of a worker that is gone.
    pub(crate) fn remove(&self, worker: WorkerId) {
        // Another process may have removed it.
        let _ = fs::remove_file(self.path(worker));
        drop(self.held().remove(&worker));
    }

    /// Removes the files of dead workers, except those in the database.
    pub(crate) fn remove_dead(&self, known: &[WorkerId]) {
        let Some(name) = self.database.file_name().and_then(|name| name.to_str()) else { return };
        let folder = self.database.parent().filter(|folder| !folder.as_os_str().is_empty());
        for entry in fs::read_dir(folder.unwrap_or(Path::new("."))).into_iter().flatten().flatten() {
            let file = entry.file_name();
            let id = file.to_str().and_then(|file| file.strip_prefix(name)?.strip_prefix("-worker-"));
            let id = id.and_then(|id| u128::from_str_radix(id, 16).ok());
            let worker = id.map(|id| WorkerId::from_bytes(id.to_be_bytes()));
            if let Some(worker) = worker.filter(|worker| !known.contains(worker) && self.is_dead(*worker)) {
                self.remove(worker);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_held_until_it_is_dropped() {
        let folder = tempfile::tempdir().expect("a folder");
        let [here, there] = [0; 2].map(|_| WorkerLocks::beside(folder.path().join("tasks.db")));
        let worker = WorkerId::new();
        assert!(!there.is_dead(worker), "it has no file");
        here.lock(worker).expect("nobody has it");
        assert!(!here.is_dead(worker) && !there.is_dead(worker));
        there.remove_dead(&[]);
        assert!(here.path(worker).exists());
        drop(here);
        assert!(there.is_dead(worker));
        there.remove_dead(&[worker]);
        assert!(there.path(worker).exists(), "the database knows it");
        there.remove_dead(&[]);
        assert!(!there.path(worker).exists());
    }
}
