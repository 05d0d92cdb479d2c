use std::{fmt, sync::Arc};

use rmcp::model::{self, CallToolResult, JsonObject, ToolAnnotations};
use serde_json::{Value, value::RawValue};

use super::{
    Annotations, Function, Reader, Ready, ToolKind,
    details::icons,
    ready::{FunctionReader, unread},
};
use crate::{
    call::{BadArguments, Members, Param, Texts},
    graph::ItemNode,
    inject::{Context, FromCall, Need},
    reply::IntoReply,
    schema::InputSchema,
};

/// A tool, ready to be given to a server.
///
/// `tools![..]` makes them from functions marked `#[tool]`; [`Tool::dynamic`] makes one at run time.
#[derive(Clone)]
pub struct Tool {
    record: model::Tool,
    reader: Arc<dyn Reader<CallToolResult>>,
    needs: Vec<(&'static str, Need)>,
    node: Option<&'static ItemNode>,
}

impl Tool {
    /// The tool that a function marked `#[tool]` is.
    pub fn of<F: Function<Kind = ToolKind>>(receiver: Arc<F::Receiver>) -> Self {
        let details = F::DETAILS;
        let mut record = model::Tool::default();
        record.name = details.name.into();
        record.title = details.title.map(Into::into);
        record.description = details.description.map(Into::into);
        record.input_schema = InputSchema::of::<F::Set>(F::PARAMS).finish();
        record.output_schema = (details.output_schema)().map(|output| output.schema);
        record.annotations = annotations(details.annotations);
        record.icons = icons(details.icons);
        Self { record, reader: Arc::new(FunctionReader::<F>(receiver)), needs: F::needs(), node: Some(F::node()) }
    }

    /// A tool that is made at run time: from a configuration, an API description, a plug-in.
    ///
    /// Its arguments arrive as they were sent; checking them against `record.input_schema` is the function's task.
    /// Arguments are always an object: a schema that does not say so is listed as if it did.
    ///
    /// ```
    /// use rejoinder_core::{item::Tool, model};
    ///
    /// let record = model::Tool::new("echo", "Say it again.", model::JsonObject::new());
    /// let echo = Tool::dynamic(record, |arguments, _ctx| async move {
    ///     serde_json::Value::Object(arguments).to_string()
    /// });
    /// assert_eq!(echo.name(), "echo");
    /// assert_eq!(echo.record().input_schema["type"], "object");
    /// ```
    pub fn dynamic<H, F, R>(mut record: model::Tool, function: H) -> Self
    where
        H: Fn(JsonObject, Context) -> F + Send + Sync + 'static,
        F: Future<Output = R> + Send + 'static,
        R: IntoReply,
    {
        Arc::make_mut(&mut record.input_schema).entry("type").or_insert_with(|| "object".into());
        Self { record, reader: Arc::new(Dynamic(Arc::new(function))), needs: Vec::new(), node: None }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.record.name
    }

    /// The same tool under another name.
    #[must_use]
    pub fn renamed(mut self, name: impl Into<String>) -> Self {
        self.record.name = name.into().into();
        self
    }

    /// What lists say of it.
    pub fn record(&self) -> &model::Tool {
        &self.record
    }

    /// What lists say of it, to change what no attribute covers, such as `_meta` or a schema of your own.
    pub fn record_mut(&mut self) -> &mut model::Tool {
        &mut self.record
    }

    /// What reads its arguments.
    pub fn reader(&self) -> &dyn Reader<CallToolResult> {
        &*self.reader
    }

    /// Its place in the graph; a tool that is made at run time has none.
    pub fn node(&self) -> Option<&'static ItemNode> {
        self.node
    }

    /// What must have been provided, by parameter.
    pub fn needs(&self) -> &[(&'static str, Need)] {
        &self.needs
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("record", &self.record).finish_non_exhaustive()
    }
}

fn annotations(hints: Annotations) -> Option<ToolAnnotations> {
    (hints != Annotations::default()).then(|| {
        ToolAnnotations::from_raw(None, hints.read_only, hints.destructive, hints.idempotent, hints.open_world)
    })
}

/// A tool's function that is a closure over its arguments as JSON.
struct Dynamic<H>(Arc<H>);

impl<H, F, R> Dynamic<H>
where
    H: Fn(JsonObject, Context) -> F + Send + Sync + 'static,
    F: Future<Output = R> + Send + 'static,
    R: IntoReply,
{
    fn ready(&self, arguments: JsonObject) -> Ready<CallToolResult> {
        let function = Arc::clone(&self.0);
        Ready::new(move |call| {
            Box::pin(async move { function(arguments, Context::from_call(&call, "ctx")?).await.into_reply() })
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
        let mut stream = serde_json::Deserializer::from_str(json).into_iter::<Members<Value>>();
        let arguments = stream.next()?.ok()?;
        let is_clear = arguments.twice().is_none();
        is_clear.then(|| (self.ready(arguments.0.into_iter().collect()), stream.byte_offset()))
    }

    fn explain(&self, json: &RawValue) -> Result<Ready<CallToolResult>, BadArguments> {
        let arguments: Members<Value> = serde_json::from_str(json.get()).map_err(|error| unread(&error))?;
        arguments.twice().map_or_else(|| Ok(self.ready(arguments.0.into_iter().collect())), Err)
    }

    fn read_texts(&self, texts: &Texts<'_>) -> Result<Ready<CallToolResult>, BadArguments> {
        let arguments = texts.names().filter_map(|name| Some((name.to_owned(), texts.get(name)?.into())));
        Ok(self.ready(arguments.collect()))
    }

    fn params(&self) -> &'static [Param] {
        &[]
    }
}
