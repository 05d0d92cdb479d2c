//! Changes of what the server offers, told to one session.

use std::sync::{Arc, OnceLock};

use rmcp::{Peer, RoleServer, model::ResourceUpdatedNotificationParam};
use tokio::task::AbortHandle;

use crate::server::{Change, ChangeFilter, Engine, FilterTooLarge, Listener};

/// One session's subscription. Dropping it, with the session, ends the forwarding.
#[derive(Debug)]
pub(super) struct Changes {
    subscription: Arc<Listener>,
    forwarding: OnceLock<Forwarding>,
}

#[derive(Debug)]
struct Forwarding(AbortHandle);

impl Drop for Forwarding {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Changes {
    /// Begins to collect changes of all lists that the server declares.
    pub(super) fn new(engine: &Engine) -> Self {
        let declared = &engine.capabilities;
        let filter = ChangeFilter {
            tools: declared.tools.is_some(),
            prompts: declared.prompts.is_some(),
            resources: declared.resources.is_some(),
            ..ChangeFilter::default()
        };
        Self { subscription: Arc::new(engine.hub.subscribe(filter)), forwarding: OnceLock::new() }
    }

    /// Begins to tell the client, once; what has been collected comes first.
    pub(super) fn forward_to(&self, peer: &Peer<RoleServer>) {
        self.forwarding.get_or_init(|| {
            let task = tokio::spawn(forward(Arc::clone(&self.subscription), peer.clone()));
            Forwarding(task.abort_handle())
        });
    }

    /// Tells of updates of this resource too, unless it is too much.
    pub(super) fn subscribe(&self, uri: String) -> Result<(), FilterTooLarge> {
        self.subscription.refilter(|filter| filter.add_resource(uri)).unwrap_or(Ok(()))
    }

    /// No longer tells of updates of this resource.
    pub(super) fn unsubscribe(&self, uri: &str) {
        self.subscription.refilter(|filter| filter.remove_resource(uri));
    }
}

/// Until the server ends all subscriptions, or the client is gone.
async fn forward(subscription: Arc<Listener>, peer: Peer<RoleServer>) {
    while let Some(change) = subscription.change().await {
        let told = match change {
            Change::Tools => peer.notify_tool_list_changed().await,
            Change::Prompts => peer.notify_prompt_list_changed().await,
            Change::Resources => peer.notify_resource_list_changed().await,
            Change::Updated(uri) => peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await,
        };
        if told.is_err() {
            return;
        }
    }
}
