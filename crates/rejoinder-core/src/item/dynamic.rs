//! Tools that are made at run time.

use std::sync::Arc;

use rmcp::model::{CallToolResult, JsonObject};
use serde_json::value::RawValue;

use super::{Reader, Ready};
use crate::{
    call::{BadArgument, BadArguments, Param, Texts},
    graph::{Named, Resolvers},
    inject::{Context, FromCall},
    reply::IntoReply,
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
    R: IntoReply,
{
    fn ready(&self, arguments: JsonObject, named: Named) -> Ready<CallToolResult> {
        let (function, resolvers) = (Arc::clone(&self.function), Arc::clone(&self.resolvers));
        Ready::new(move |call| {
            Box::pin(async move {
                match resolvers.resolve(&call, &named).await {
                    Ok(resolved) => call.keep_resolved(resolved),
                    Err(halt) => return call.halt(halt).await,
                }
                function(arguments, Context::from_call(&call, "ctx")?).await.into_reply()
            })
        })
    }
}

impl<H, F, R> Reader<CallToolResult> for Dynamic<H>
where
    H: Fn(JsonObject, Context) -> F + Send + Sync + 'static,
    F: Future<Output = R> + Send + 'static,
    R: IntoReply,
{
    fn read(&self, json: &str) -> Option<(Ready<CallToolResult>, usize)> {
        let mut stream = serde_json::Deserializer::from_str(json).into_iter::<JsonObject>();
        let arguments = stream.next()?.ok()?;
        let named = self.resolvers.read(&arguments).ok()?;
        Some((self.ready(arguments, named), stream.byte_offset()))
    }

    fn explain(&self, json: &RawValue) -> Result<Ready<CallToolResult>, BadArguments> {
        let arguments = serde_json::from_str(json.get()).map_err(|error| {
            BadArguments(vec![BadArgument { field: "arguments".into(), message: error.to_string() }])
        })?;
        let named = self.resolvers.read(&arguments)?;
        Ok(self.ready(arguments, named))
    }

    fn read_texts(&self, texts: &Texts<'_>) -> Result<Ready<CallToolResult>, BadArguments> {
        let arguments = texts.names().filter_map(|name| Some((name.to_owned(), texts.get(name)?.into())));
        let arguments = arguments.collect();
        let named = self.resolvers.read(&arguments)?;
        Ok(self.ready(arguments, named))
    }

    fn params(&self) -> &'static [Param] {
        &[]
    }
}
