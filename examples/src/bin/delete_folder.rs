//! A tool that asks before it deletes, and only if there is something to lose.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use rejoinder::prelude::*;

/// The folders, each with its number of files.
struct Folders(Mutex<BTreeMap<String, usize>>);

impl Folders {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn files(&self, path: &str) -> Result<usize, CallError> {
        self.lock().get(path).copied().ok_or_else(|| CallError::new(format!("there is no folder `{path}`")))
    }
}

/// A form. MCP forms are flat: a nested struct does not compile.
#[derive(Elicit)]
struct Confirm {
    /// Delete it and everything in it?
    yes: bool,
}

/// `path` is the tool's argument of that name.
#[resolver]
fn confirm(path: &str, folders: Dep<Folders>) -> Result<Ask<Confirm>, CallError> {
    Ok(match folders.files(path)? {
        0 => Ask::known(Confirm { yes: true }),
        files => Ask::user(format!("{path} has {files} files.")),
    })
}

/// Delete a folder.
#[tool(destructive)]
async fn delete_folder(
    /// The folder to delete
    path: String,
    #[resolve(confirm)] confirm: &Confirm, // a decline or cancel ends the call
    folders: Dep<Folders>,
) -> String {
    if !confirm.yes {
        return format!("kept {path}");
    }
    folders.lock().remove(&path);
    format!("deleted {path}")
}

fn server() -> Server {
    let folders = BTreeMap::from([("/empty".into(), 0), ("/full".into(), 12)]);
    Server::new("folders", "1.0.0").provide(Folders(Mutex::new(folders))).tools(tools![delete_folder])
}

#[tokio::main]
async fn main() -> rejoinder::Result<()> {
    server().serve_from_args().await
}

#[cfg(test)]
mod tests {
    use rejoinder::{call::Era, testing::Client};
    use serde_json::json;

    use super::*;

    async fn delete(client: Client, path: &str) -> (String, usize) {
        let reply = client.call_tool("delete_folder", json!({ "path": path })).await.unwrap();
        (reply.text(), reply.asked.len())
    }

    #[tokio::test]
    async fn an_empty_folder_is_deleted_without_a_question() {
        assert_eq!(delete(Client::new(server()), "/empty").await, ("deleted /empty".into(), 0));
    }

    #[tokio::test]
    async fn a_full_folder_is_deleted_only_if_the_user_says_yes() {
        for era in [Era::Stateless, Era::Session] {
            let client = || Client::new(server()).era(era);
            let answered = |yes| client().answer("confirm", Confirm { yes });
            assert_eq!(delete(answered(true), "/full").await, ("deleted /full".into(), 1));
            assert_eq!(delete(answered(false), "/full").await, ("kept /full".into(), 1));
            let (declined, _) = delete(client().decline("confirm"), "/full").await;
            assert_eq!(declined, "the user declined `confirm`");
        }
    }

    #[tokio::test]
    async fn a_test_can_replace_the_resolver_that_asks() {
        let client = Client::new(server()).replace_resolver::<confirm>(|| Confirm { yes: false });
        assert_eq!(delete(client, "/full").await, ("kept /full".into(), 0));
    }
}
