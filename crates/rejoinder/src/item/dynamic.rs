//! Tools that are made at run time.

use std::sync::Arc;

use rmcp::model::JsonObject;
use serde_json::Value;

use super::{
    Reader, Ready,
    ready::{guarded, unread},
};
use crate::{
    call::{BadArguments, Members, Param, Texts, Unknown},
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
    fn ready(&self, arguments: Members<Value>) -> Result<Ready, BadArguments> {
        arguments.twice().map_or(Ok(()), Err)?;
        let arguments: JsonObject = arguments.0.into_iter().collect();
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
    fn read(&self, json: &str, _: Unknown) -> Result<Ready, BadArguments> {
        self.ready(serde_json::from_str(json).map_err(|error| unread(&error))?)
    }

    fn read_texts(&self, texts: &Texts<'_>, _: Unknown) -> Result<Ready, BadArguments> {
        let arguments = texts.names().filter_map(|name| Some((name.to_owned(), texts.get(name)?.into())));
        self.ready(Members(arguments.collect()))
    }

    // A closure takes whatever comes: to it no argument is unknown.
    fn takes(&self, _: &str, _: Unknown) -> bool {
        true
    }

    fn params(&self) -> &'static [Param] {
        &[]
    }
}
