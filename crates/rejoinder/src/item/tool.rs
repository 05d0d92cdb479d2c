use std::{fmt, sync::Arc};

use rmcp::model::{self, JsonObject, ToolAnnotations};

use super::function::{Function, FunctionReader, IconDetails, Reader, Ready, guarded, icons};
use crate::{
    call::{ArgumentErrors, Param, SentArguments, UnknownArguments},
    graph::{Edge, ItemNode, Resolver, Resolvers, needs_of},
    inject::{Context, Need},
    reply::IntoToolResult,
    schema::{InputSchema, OutputSchema},
};

/// A tool, ready to be given to a server.
///
/// `tools![..]` makes them from functions marked `#[tool]`; [`Tool::dynamic`] makes one at run time.
#[derive(Clone)]
pub struct Tool {
    record: model::Tool,
    reader: Arc<dyn Reader>,
    needs: Vec<(&'static str, Need)>,
    node: Option<&'static ItemNode<'static>>,
    made: Option<MadeAtRunTime>,
}

/// What a tool that is made at run time is made of.
#[derive(Clone)]
struct MadeAtRunTime {
    resolvers: Arc<Resolvers>,
    /// Whether its function makes its rounds by hand.
    by_hand: bool,
    reader: Arc<MakeReader>,
}

/// Makes the reader of a function that needs these resolvers.
type MakeReader = dyn Fn(Arc<Resolvers>) -> Arc<dyn Reader> + Send + Sync;

impl Tool {
    /// The tool that a function marked `#[tool]` is.
    pub fn of<F: Function<Details = ToolDetails>>(receiver: Arc<F::Receiver>) -> Self {
        let details = F::DETAILS;
        let mut record = model::Tool::default();
        record.name = details.name.into();
        record.title = details.title.map(Into::into);
        record.description = details.description.map(Into::into);
        record.input_schema = InputSchema::of::<F::Set>(F::PARAMS).finish();
        record.output_schema = (details.output_schema)().map(|output| output.schema);
        record.annotations = annotations(details.annotations);
        record.icons = icons(details.icons);
        Self {
            record,
            reader: Arc::new(FunctionReader::<F>::new(receiver)),
            needs: needs_of(F::node().arguments, F::node().edges),
            node: Some(F::node()),
            made: None,
        }
    }

    /// A tool that is made at run time: from a configuration, an API description, a plug-in.
    ///
    /// Its arguments arrive as they were sent; checking them against `record.input_schema` is the function's task.
    /// Arguments are always an object: a schema that does not say so is listed as if it did.
    ///
    /// ```
    /// use rejoinder::{Tool, model};
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
        R: IntoToolResult,
    {
        Arc::make_mut(&mut record.input_schema).entry("type").or_insert_with(|| "object".into());
        let made = MadeAtRunTime {
            resolvers: Arc::default(),
            by_hand: R::BY_HAND,
            reader: {
                let function = Arc::new(function);
                Arc::new(move |resolvers| Arc::new(Dynamic { function: Arc::clone(&function), resolvers }))
            },
        };
        let reader = (made.reader)(Arc::clone(&made.resolvers));
        Self { record, reader, needs: Vec::new(), node: None, made: Some(made) }
    }

    /// Lets a tool that is made at run time need a resolver, named as in `#[resolve(..)]`.
    ///
    /// It runs before the function, which takes its value from [`Context::resolved`]; if it asks and the user declines,
    /// the function does not run. What the compiler checks for others is checked when the server is built: that the
    /// tool's schema has the arguments that the resolver takes by name, and that their types fit.
    ///
    /// ```
    /// use rejoinder::{Resolver, Tool, model};
    ///
    /// /// A tool of a plug-in, behind a resolver of ours that asks the user.
    /// fn guarded<Confirm: Resolver>(plugin: model::Tool) -> Tool {
    ///     Tool::dynamic(plugin, |_, _| async { "done" }).resolve::<Confirm>()
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// If it is a function marked `#[tool]`, which names its resolvers itself.
    #[must_use]
    pub fn resolve<R: Resolver>(mut self) -> Self {
        let name = self.record.name.clone();
        let made = self
            .made
            .as_mut()
            .unwrap_or_else(|| panic!("tool `{name}` is a function: mark a parameter of it with `#[resolve(..)]`"));
        Arc::make_mut(&mut made.resolvers).add::<R>();
        self.reader = (made.reader)(Arc::clone(&made.resolvers));
        self.needs = made.resolvers.needs();
        self
    }

    /// The resolvers that it needs.
    pub fn edges(&self) -> &[Edge] {
        match (&self.made, self.node) {
            (Some(made), _) => made.resolvers.edges(),
            (None, Some(node)) => node.edges,
            (None, None) => &[],
        }
    }

    /// Everything that is wrong with how it was made at run time.
    pub fn mistakes(&self) -> Vec<String> {
        let Some(made) = &self.made else { return Vec::new() };
        made.resolvers.mistakes(&self.record.name, &self.record.input_schema, made.by_hand)
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
    pub fn reader(&self) -> &dyn Reader {
        &*self.reader
    }

    /// Its place in the graph; a tool that is made at run time has none.
    pub fn node(&self) -> Option<&'static ItemNode<'static>> {
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

/// What `#[tool]` knows besides the parameters.
#[derive(Debug, Clone, Copy)]
pub struct ToolDetails {
    /// The tool's name.
    pub name: &'static str,
    /// `title = ".."`.
    pub title: Option<&'static str>,
    /// The doc comment.
    pub description: Option<&'static str>,
    /// What the tool does to the world.
    pub annotations: Annotations,
    /// `icon(..)`.
    pub icons: &'static [IconDetails],
    /// The schema of what it returns.
    pub output_schema: fn() -> Option<OutputSchema>,
}

impl ToolDetails {
    /// A tool that returns an `R`, with nothing but its name.
    pub const fn of<R: IntoToolResult>(name: &'static str) -> Self {
        Self {
            name,
            title: None,
            description: None,
            annotations: Annotations::NONE,
            icons: &[],
            output_schema: R::output_schema,
        }
    }
}

/// What a tool does to the world, as hints to the client; unset is the protocol's default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Annotations {
    /// It changes nothing.
    pub read_only: Option<bool>,
    /// It may destroy something.
    pub destructive: Option<bool>,
    /// Doing it twice is doing it once.
    pub idempotent: Option<bool>,
    /// It reaches beyond the server.
    pub open_world: Option<bool>,
}

impl Annotations {
    /// No hints.
    pub const NONE: Self = Self { read_only: None, destructive: None, idempotent: None, open_world: None };
}
