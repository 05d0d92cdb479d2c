use std::{borrow::Cow, fmt, sync::Arc, time::Duration};

use crate::model::{self, JsonObject, ToolAnnotations};

use super::function::{Function, ItemDetails, ItemFunction, Read, read_guarded};
use crate::{
    argument::{InputSchema, SchemaCheck},
    graph::{Resolver, Resolvers},
    inject::Context,
    reply::{FunctionRun, IntoToolResult},
    tasks::TaskOptions,
};

/// A tool, ready to be given to a server.
///
/// `tools![..]` makes them from functions marked `#[tool]`; [`Tool::dynamic`] makes one at run time.
#[must_use]
#[derive(Debug, Clone)]
pub struct Tool {
    record: model::Tool,
    tags: Vec<Cow<'static, str>>,
    pub(crate) function: ItemFunction,
    /// The schema against which a function that is marked `#[tool]` checks its arguments itself.
    checked: Arc<JsonObject>,
    dynamic: Option<Dynamic>,
}

impl Tool {
    /// The tool that a function marked `#[tool]` is.
    pub fn of<F: Function>(receiver: Arc<F::Receiver>) -> Self {
        let (details, schema) = (F::DETAILS, InputSchema::of::<F::Set>(F::PARAMS));
        let function = ItemFunction::of::<F>(receiver, &schema);
        let mut record = model::Tool::default();
        record.name = details.name.into();
        record.title = details.title.map(Into::into);
        record.description = details.description.map(Into::into);
        record.input_schema = Arc::clone(&schema.finished);
        let checked = Arc::clone(&schema.finished);
        record.output_schema = (details.output_schema)().map(|output| output.schema);
        record.annotations = annotations(&details);
        record.icons = details.icons();
        let tags = details.tags.iter().copied().map(Cow::Borrowed).collect();
        Self { record, tags, function, checked, dynamic: None }
    }

    /// A tool that is made at run time: from a configuration, an API description, a plug-in.
    ///
    /// Its arguments are checked against `record.input_schema` before anything runs, as those of other tools are: types,
    /// required properties and constraints. A keyword that nothing enforces is an error when the server is built;
    /// [`unchecked`](Self::unchecked) leaves all checks to the function. Arguments are always an object, so `"type": "object"`
    /// is added to a schema without a type.
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
        let run = move |arguments, ctx| -> FunctionRun {
            let run = function(arguments, ctx);
            Box::pin(async { run.await.into_output() })
        };
        let (run, resolvers, by_hand) = (Arc::new(run), Resolvers::default(), R::BY_HAND);
        let dynamic = Dynamic { run, resolvers, by_hand, is_checked: true };
        let function = ItemFunction::dynamic(dynamic.read(None));
        Self { record, tags: Vec::new(), function, checked: Arc::default(), dynamic: Some(dynamic) }
    }

    /// Adds a resolver, named as in `#[resolve(..)]`, to a tool that is made at run time.
    ///
    /// It runs before the function, which takes its value from [`Context::resolved`]. If it asks and the user declines, the
    /// function does not run. When the server is built, it checks that the tool's schema has the arguments that the resolver
    /// takes by name, and that their types fit.
    ///
    /// ```
    /// use rejoinder::{Resolver, Tool, model};
    ///
    /// /// A tool of a plug-in, behind one of our resolvers that asks the user.
    /// fn guarded<Confirm: Resolver>(plugin: model::Tool) -> Tool {
    ///     Tool::dynamic(plugin, |_, _| async { "done" }).resolve::<Confirm>()
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// If the tool is a function marked `#[tool]`: its parameters name its resolvers.
    pub fn resolve<R: Resolver>(mut self) -> Self {
        let name = self.record.name.clone();
        let dynamic = self
            .dynamic
            .as_mut()
            .unwrap_or_else(|| panic!("tool `{name}` is a function: mark a parameter of it with `#[resolve(..)]`"));
        dynamic.resolvers.add::<R>();
        self.function.edges = dynamic.resolvers.edges().to_vec().into();
        self
    }

    /// Leaves it to the function of a tool that is made at run time to check the arguments.
    ///
    /// For a schema that is checked elsewhere, or that has keywords which rejoinder does not enforce.
    ///
    /// ```
    /// use rejoinder::{Tool, model, prelude::*};
    /// use serde_json::json;
    ///
    /// let schema = json!({ "type": "object", "if": { "required": ["a"] }, "then": { "required": ["b"] } });
    /// let record = model::Tool::new("remote", "Calls another server.", schema.as_object().unwrap().clone());
    /// let remote = Tool::dynamic(record, |_, _| async { "done" });
    /// assert!(Server::new("proxy", "1.0.0").tools([remote.clone()]).build().is_err());
    /// assert!(Server::new("proxy", "1.0.0").tools([remote.unchecked()]).build().is_ok());
    /// ```
    ///
    /// # Panics
    ///
    /// If the tool is a function marked `#[tool]`: its arguments are always checked.
    pub fn unchecked(mut self) -> Self {
        let name = self.record.name.clone();
        let dynamic = self.dynamic.as_mut();
        let dynamic =
            dynamic.unwrap_or_else(|| panic!("tool `{name}` is a function: its arguments are always checked"));
        dynamic.is_checked = false;
        self
    }

    /// Compiles a schema that was not made from a function. Returns what cannot be enforced.
    pub(crate) fn compile(&mut self) -> Vec<String> {
        let (mut check, mut problems) = (None, Vec::new());
        let is_checked = self.dynamic.as_ref().is_none_or(|dynamic| dynamic.is_checked);
        if is_checked && self.checked != self.record.input_schema {
            let compiled = SchemaCheck::of_object(&self.record.input_schema);
            let remedy = match self.dynamic {
                Some(_) => "remove it, or call `.unchecked()` and check the arguments in the function",
                None => "remove it, or check the value in the function",
            };
            problems.extend(compiled.problems().iter().map(|problem| format!("{problem}; {remedy}")));
            check = Some(Arc::new(compiled));
        }
        match (&self.dynamic, check) {
            (Some(dynamic), check) => self.function.read = dynamic.read(check),
            (None, Some(check)) => self.function.check_first(check),
            (None, None) => {}
        }
        problems
    }

    /// Lets the schema allow arguments that the function does not have.
    pub(crate) fn allow_unknown_arguments(&mut self) {
        const FIELD: &str = "additionalProperties";
        for schema in [&mut self.record.input_schema, &mut self.checked] {
            if schema.get(FIELD) == Some(&false.into()) {
                Arc::make_mut(schema).shift_remove(FIELD);
            }
        }
    }

    /// Whether it was made at run time.
    pub(crate) fn is_dynamic(&self) -> bool {
        self.dynamic.is_some()
    }

    /// Everything that is wrong with how it was made at run time.
    pub(crate) fn mistakes(&self) -> Vec<String> {
        let Some(Dynamic { resolvers, by_hand, .. }) = &self.dynamic else { return Vec::new() };
        resolvers.mistakes(&self.record.name, &self.record.input_schema, *by_hand)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.record.name
    }

    /// The same tool under another name.
    pub fn renamed(mut self, name: impl Into<String>) -> Self {
        self.record.name = name.into();
        self
    }

    /// Limits how long a round of a call of this tool may take, as `#[tool(timeout = "30s")]` does.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use rejoinder::{Tool, model};
    ///
    /// let record = model::Tool::new("wait", "Wait forever.", model::JsonObject::new());
    /// let tool = Tool::dynamic(record, |_, _| std::future::pending::<()>()).timeout(Duration::from_secs(30));
    /// assert_eq!(tool.name(), "wait");
    /// ```
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.function.timeout = Some(limit);
        self
    }

    /// Runs the tool as a task, as `#[tool(task)]` does.
    pub fn task(mut self, options: TaskOptions) -> Self {
        self.function.task = Some(options);
        self
    }

    /// The same tool with one more tag, as `#[tool(tags = ["admin"])]` sets them, for
    /// [`Server::only_tagged`](crate::Server::only_tagged).
    pub fn tagged(mut self, tag: impl Into<String>) -> Self {
        self.tags.push(Cow::Owned(tag.into()));
        self
    }

    pub(crate) fn tags(&self) -> impl Iterator<Item = &str> {
        self.tags.iter().map(|tag| &**tag)
    }

    /// The same tool for callers that have all of these scopes, as `#[tool(scopes = ["files:write"])]` sets them.
    ///
    /// ```
    /// use rejoinder::{Tool, model};
    ///
    /// let record = model::Tool::new("drop", "Drop a table.", model::JsonObject::new());
    /// let tool = Tool::dynamic(record, |_, _| async { "gone" }).scopes(["tables:write"]);
    /// assert_eq!(tool.name(), "drop");
    /// ```
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.function.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Its entry in lists.
    pub fn record(&self) -> &model::Tool {
        &self.record
    }

    /// Its entry in lists, to change what no attribute covers, such as `_meta` or a schema of your own. What that schema says
    /// is enforced, and the arguments must still fit the parameters.
    pub fn record_mut(&mut self) -> &mut model::Tool {
        &mut self.record
    }
}

/// The hints for the client; one that is not set has the protocol's default.
fn annotations(details: &ItemDetails) -> Option<ToolAnnotations> {
    let &ItemDetails { read_only, destructive, idempotent, open_world, .. } = details;
    let is_set = [read_only, destructive, idempotent, open_world].iter().any(Option::is_some);
    is_set.then(|| {
        let mut hints = ToolAnnotations::default();
        (hints.read_only_hint, hints.destructive_hint) = (read_only, destructive);
        (hints.idempotent_hint, hints.open_world_hint) = (idempotent, open_world);
        hints
    })
}

/// Calls the closure of a tool that is made at run time.
type RunDynamic = dyn Fn(JsonObject, Context) -> FunctionRun + Send + Sync;

/// The definition of a tool that is created at run time.
#[derive(Clone)]
struct Dynamic {
    run: Arc<RunDynamic>,
    resolvers: Resolvers,
    /// Whether its function makes its rounds by hand.
    by_hand: bool,
    is_checked: bool,
}

impl Dynamic {
    /// Reads arguments, after they are checked against its schema if there is anything to check.
    fn read(&self, check: Option<Arc<SchemaCheck>>) -> Arc<Read> {
        let Self { run, resolvers, .. } = self.clone();
        Arc::new(move |sent, _, call| {
            let mut arguments = sent.to_object()?;
            if let Some(check) = &check {
                arguments = check.check(arguments)?;
            }
            let named = match read_guarded(|| resolvers.read(&arguments)) {
                Ok(named) => named?,
                Err(panicked) => return Ok(panicked),
            };
            let (run, resolvers, call) = (Arc::clone(&run), resolvers.clone(), call.clone());
            Ok(Box::pin(async move {
                let resolved = resolvers.resolve(&call, &named).await?;
                call.enter()?;
                run(arguments, Context::with_resolved(call, resolved)).await
            }))
        })
    }
}

impl fmt::Debug for Dynamic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dynamic").field("resolvers", &self.resolvers).finish_non_exhaustive()
    }
}
