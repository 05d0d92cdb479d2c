//! Tools that are made at run time.

use std::sync::Arc;

use rmcp::model::JsonObject;

use super::{Reader, Ready, ready::guarded};
use crate::{
    call::{ArgumentErrors, Param, SentArguments, UnknownArguments},
    graph::Resolvers,
    inject::Context,
    reply::IntoToolResult,
};

/// A tool's function that is a closure over its arguments as JSON.
pub(super) struct Dynamic<H> {
    pub(super) function: Arc<H>,
    pub(super) resolvers: Arc<Resolvers>,
}

impl<H, F, R> Dynamic<H>
where
    H: Fn(JsonObject, Context) -> F + Send + Sync + 'static,
    F: Future<Output = R> + Send + 'static,
    R: IntoToolResult,
{
    fn ready(&self, arguments: JsonObject) -> Result<Ready, ArgumentErrors> {
        let named = match guarded(|| self.resolvers.read(&arguments)) {
            Ok(read) => read?,
            Err(panic) => return Ok(Ready::panicked(panic)),
        };
        let (function, resolvers) = (Arc::clone(&self.function), Arc::clone(&self.resolvers));
        Ok(Ready::new(move |call| {
            Box::pin(async move {
                let resolved = resolvers.resolve(&call, &named).await?;
                function(arguments, Context::with_resolved(call, resolved)).await.into_output()
            })
        }))
    }
}

impl<H, F, R> Reader for Dynamic<H>
where
    H: Fn(JsonObject, Context) -> F + Send + Sync + 'static,
    F: Future<Output = R> + Send + 'static,
    R: IntoToolResult,
{
    // A closure takes every argument: to it none is unknown.
    fn read(&self, sent: &SentArguments<'_>, _: UnknownArguments) -> Result<Ready, ArgumentErrors> {
        self.ready(sent.to_object()?)
    }

    fn params(&self) -> &'static [Param] {
        &[]
    }
}
