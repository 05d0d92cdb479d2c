use std::{
    any::{Any, TypeId},
    borrow::Cow,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::Arc,
    time::Duration,
};

use crate::model::Icon;
use serde_json::Value;
use tokio::{
    runtime::{Handle, RuntimeFlavor},
    task::{block_in_place, yield_now},
};

use crate::{
    argument::{
        ArgumentCheck, ArgumentErrors, InputSchema, ReadParams, SchemaCheck, SentArguments, UnknownArguments,
        read_arguments,
    },
    call::Call,
    graph::{
        Arguments, Complete, Edge, FunctionArguments, Gate, ItemNode, Keys, NodeArgument, Walk, headers_of,
        may_share_states, needs_of,
    },
    inject::Need,
    reply::{FunctionRun, OutputSchema},
    tasks::TaskOptions,
};

/// A function with all that the framework must know to call it. The macros implement it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool, prompt or resource",
    label = "write `#[tool]`, `#[prompt]` or `#[resource]` before this function"
)]
pub trait Function: ReadParams {
    /// Whose method it is; `()` for a free function.
    type Receiver: Send + Sync + 'static;

    /// Its attribute and its doc comment.
    const DETAILS: ItemDetails;

    /// `enabled = ..`, of the function and of its block.
    const GATES: &'static [Gate] = &[];

    /// Its place in the graph.
    fn node() -> &'static ItemNode<'static>;

    /// Its arguments, as its resolvers find them.
    fn by_name(arguments: &Self::Set) -> FunctionArguments<'_, Self>
    where
        Self: Sized,
    {
        FunctionArguments(arguments)
    }

    /// Fills the parameters and calls it.
    fn run(callee: Arc<Callee<Self::Receiver>>, arguments: Self::Set, call: Call) -> FunctionRun;
}

/// Calls a function that blocks its thread, after what else waits for the thread has moved to another one.
///
/// A runtime of one thread has no other, so there the function is just called.
pub async fn blocking<T>(function: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => {
            // What waits behind it in the same future goes on first.
            yield_now().await;
            block_in_place(function)
        }
        _ => function(),
    }
}

/// What all calls of one function share.
#[derive(Debug)]
pub struct Callee<T> {
    /// The value whose method it is.
    pub receiver: Arc<T>,
    /// The keys under which its resolvers ask.
    pub keys: Keys,
}

impl<T: Send + Sync + 'static> Callee<T> {
    /// A walk through the resolvers of the function, for a call with these arguments.
    pub fn walk<'a>(&'a self, call: &'a Call, arguments: &'a dyn Arguments) -> Walk<'a> {
        Walk::new(call, arguments, &*self.receiver, &self.keys)
    }
}

/// A function that is an `I`: a tool, a prompt or a resource. It may be a method of an `R`.
#[diagnostic::on_unimplemented(
    message = "this does not name a `{I}`",
    label = "add `#[tool]`, `#[prompt]` or `#[resource(..)]` before the function, or correct the name",
    note = "tools go into `tools![..]`, prompts into `prompts![..]`, resources into `resources![..]`"
)]
pub trait ListedAs<I, R = ()> {
    /// What it is, as a method of this value.
    fn item(receiver: Arc<R>) -> I;
}

/// Reads arguments for a call, or finds everything that is wrong with them.
pub(super) type Read =
    dyn Fn(&SentArguments<'_>, UnknownArguments, &Call) -> Result<FunctionRun, ArgumentErrors> + Send + Sync;

/// The function of an item, as a server checks and calls it.
#[derive(Clone)]
pub(crate) struct ItemFunction {
    pub(super) read: Arc<Read>,
    /// The value whose method it is.
    pub(crate) receiver: Arc<dyn Any + Send + Sync>,
    /// What the author wrote about the parameters that the model supplies.
    /// The parameters that no resolver fills; a function that is made at run time has none.
    pub(crate) inputs: &'static [NodeArgument<'static>],
    /// Whether it may make its rounds by hand, so that its arguments are read again.
    pub(crate) by_hand: bool,
    /// The resolvers that it needs.
    pub(crate) edges: Cow<'static, [Edge]>,
    /// Its arguments; a function that is made at run time has none.
    pub(crate) arguments: Vec<ItemArgument>,
    /// How long a round may take, if the item says so.
    pub(crate) timeout: Option<Duration>,
    /// How it runs as a task, if it can.
    pub(crate) task: Option<TaskOptions>,
    /// What the caller must be allowed to do.
    pub(crate) scopes: Vec<String>,
    /// What its schema says and cannot be checked.
    pub(crate) problems: Vec<String>,
    /// The item is there for a caller if all of these are open.
    pub(crate) gates: Vec<Gate>,
}

/// An argument of an item's function.
#[derive(Debug, Clone)]
pub(crate) struct ItemArgument {
    pub(crate) name: &'static str,
    pub(crate) ty: TypeId,
    pub(crate) is_required: bool,
    /// Whether its schema says more than its type.
    pub(crate) has_rules: bool,
    /// The values that its type allows, if it lists them.
    pub(crate) choices: Vec<String>,
    pub(crate) complete: Option<Complete>,
}

impl ItemArgument {
    fn of(
        schema: &InputSchema,
        (name, ty): (&'static str, TypeId),
        check: &ArgumentCheck,
        inputs: &[NodeArgument<'static>],
    ) -> Self {
        let &ArgumentCheck { is_required, has_rules, .. } = check;
        let described = schema.arguments().find(|(other, ..)| *other == name);
        let values = described.and_then(|(_, schema, _)| schema.get("enum")?.as_array()).into_iter().flatten();
        let choices = values.filter_map(Value::as_str).map(str::to_owned).collect();
        let complete = inputs.iter().find(|input| input.name == name).and_then(|input| input.complete);
        Self { name, ty, is_required, has_rules, choices, complete }
    }
}

impl ItemFunction {
    /// A function that a macro has marked.
    pub(super) fn of<F: Function>(receiver: Arc<F::Receiver>, schema: &InputSchema) -> Self {
        let ItemNode { arguments: inputs, edges, by_hand, .. } = *F::node();
        let keys = Keys::of(&all_edges(edges, &pipes(inputs)));
        let callee = Arc::new(Callee { receiver: Arc::clone(&receiver), keys });
        let known: Vec<_> = schema.types.iter().map(|(name, _)| (*name, schema.check.argument(name))).collect();
        let arguments = schema.types.iter().zip(&known);
        let arguments = arguments.map(|(&named, (_, check))| ItemArgument::of(schema, named, check, inputs)).collect();
        let problems = schema.problems.clone();
        let read = move |sent: &SentArguments<'_>, unknown, call: &Call| {
            let arguments = match read_guarded(|| read_arguments::<F>(sent, unknown, &known)) {
                Ok(arguments) => arguments?,
                Err(panicked) => return Ok(panicked),
            };
            Ok(F::run(Arc::clone(&callee), arguments, call.clone()))
        };
        Self {
            read: Arc::new(read),
            receiver,
            inputs,
            by_hand,
            edges: Cow::Borrowed(edges),
            arguments,
            problems,
            timeout: F::DETAILS.timeout_ms.map(Duration::from_millis),
            task: F::DETAILS.task,
            gates: F::GATES.to_vec(),
            scopes: F::DETAILS.scopes.iter().map(|scope| (*scope).to_owned()).collect(),
        }
    }

    /// A function that is made at run time.
    pub(super) fn dynamic(read: Arc<Read>) -> Self {
        let (edges, arguments, problems, gates, scopes) = Default::default();
        Self {
            read,
            receiver: Arc::new(()),
            inputs: &[],
            by_hand: true,
            edges,
            arguments,
            problems,
            timeout: None,
            task: None,
            gates,
            scopes,
        }
    }

    /// Checks the arguments against another schema before they are read.
    pub(super) fn check_first(&mut self, check: Arc<SchemaCheck>) {
        let read = Arc::clone(&self.read);
        self.read = Arc::new(move |sent, unknown, call| {
            check.check(sent.to_object()?)?;
            read(sent, unknown, call)
        });
    }

    /// Reads the arguments of a call.
    ///
    /// # Errors
    ///
    /// Everything that is wrong.
    pub(crate) fn read(
        &self,
        sent: &SentArguments<'_>,
        unknown: UnknownArguments,
        call: &Call,
    ) -> Result<FunctionRun, ArgumentErrors> {
        (self.read)(sent, unknown, call)
    }

    /// The pipes and the completion functions of its parameters.
    fn pipes(&self) -> Vec<&'static ItemNode<'static>> {
        pipes(self.inputs)
    }

    /// The resolvers that it, its pipes, its completion functions and its gates need.
    pub(crate) fn all_edges(&self) -> Vec<Edge> {
        let mut edges = all_edges(&self.edges, &self.pipes());
        edges.extend(self.gates.iter().map(|gate| gate.edge));
        edges
    }

    /// The argument of that name.
    pub(crate) fn argument(&self, name: &str) -> Option<&ItemArgument> {
        self.arguments.iter().find(|argument| argument.name == name)
    }

    /// The headers that its parameters, its pipes and its resolvers read.
    pub(crate) fn headers(&self) -> Vec<&'static str> {
        headers_of(self.inputs, &self.pipes(), &self.all_edges())
    }

    /// The services that must be provided, by parameter.
    pub(crate) fn needs(&self) -> Vec<(&'static str, Need)> {
        needs_of(self.inputs, &self.pipes(), &self.all_edges())
    }

    /// Whether a state of its calls may have users that [`needs`](Self::needs) does not show.
    pub(crate) fn may_share_states(&self) -> bool {
        may_share_states(self.inputs, &self.pipes(), &self.all_edges())
    }
}

fn pipes(inputs: &[NodeArgument<'static>]) -> Vec<&'static ItemNode<'static>> {
    let completing = inputs.iter().filter_map(|input| Some(input.complete?.node));
    inputs.iter().flat_map(|input| input.pipes).copied().chain(completing).collect()
}

/// Pipes run first, so their resolvers are reached first.
fn all_edges(edges: &[Edge], pipes: &[&'static ItemNode<'static>]) -> Vec<Edge> {
    pipes.iter().flat_map(|node| node.edges).chain(edges).copied().collect()
}

impl fmt::Debug for ItemFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ItemFunction").field("inputs", &self.inputs).field("edges", &self.edges).finish_non_exhaustive()
    }
}

/// Reads with the author's `Deserialize`. A panic is a failure of this call, so it continues where the call runs.
pub(super) fn read_guarded<T>(read: impl FnOnce() -> T) -> Result<T, FunctionRun> {
    catch_unwind(AssertUnwindSafe(read)).map_err(|panic| -> FunctionRun { Box::pin(async { resume_unwind(panic) }) })
}

/// What the attribute and the doc comment of an item say. Some of it is only for tools, or only for resources.
#[derive(Debug, Clone, Copy)]
pub struct ItemDetails {
    /// Its name.
    pub name: &'static str,
    /// `title = ".."`.
    pub title: Option<&'static str>,
    /// The doc comment.
    pub description: Option<&'static str>,
    /// `icon(..)`: where the picture is, its MIME type, and its sizes, such as `48x48`.
    pub icons: &'static [(&'static str, Option<&'static str>, Option<&'static str>)],
    /// `timeout = ".."`, in milliseconds.
    pub timeout_ms: Option<u64>,
    /// `task`, or `task(..)`.
    pub task: Option<TaskOptions>,
    /// `scopes = [..]`.
    pub scopes: &'static [&'static str],
    /// Whether a tool changes nothing.
    pub read_only: Option<bool>,
    /// Whether it may destroy something.
    pub destructive: Option<bool>,
    /// Whether doing it twice is doing it once.
    pub idempotent: Option<bool>,
    /// Whether it deals with the world outside.
    pub open_world: Option<bool>,
    /// `tags = [..]`.
    pub tags: &'static [&'static str],
    /// The schema of what a tool returns.
    pub output_schema: fn() -> Option<OutputSchema>,
    /// The URI of a resource, or its template.
    pub uri: &'static str,
    /// `mime_type = ".."`.
    pub mime_type: Option<&'static str>,
    /// How long a client may keep the contents, in milliseconds.
    pub ttl_ms: Option<u64>,
    /// Whether it may keep them for everybody.
    pub public: Option<bool>,
}

impl ItemDetails {
    /// A name, and nothing else.
    pub const fn new(name: &'static str) -> Self {
        Self {
            name,
            title: None,
            description: None,
            icons: &[],
            timeout_ms: None,
            task: None,
            scopes: &[],
            read_only: None,
            destructive: None,
            idempotent: None,
            open_world: None,
            tags: &[],
            output_schema: || None,
            uri: "",
            mime_type: None,
            ttl_ms: None,
            public: None,
        }
    }

    pub(super) fn icons(&self) -> Option<Vec<Icon>> {
        let icons = self.icons.iter().map(|(src, mime_type, sizes)| {
            let mut icon = Icon::new(*src);
            icon.mime_type = mime_type.map(str::to_owned);
            icon.sizes = sizes.map(|sizes| sizes.split_whitespace().map(str::to_owned).collect());
            icon
        });
        (!self.icons.is_empty()).then(|| icons.collect())
    }
}
