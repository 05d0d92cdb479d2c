//! Gates: resolvers of `bool` that decide who sees a tool, prompt or resource.

use std::{any::TypeId, borrow::Cow, fmt};

use super::{
    Check, Edge, Instance, Keys, Node, Resolver, Walk,
    check::{Nodes, Report, find_cycle},
};
use crate::{BoxFuture, call::Call, error::Halt};

/// A resolver that `enabled = ..` can name.
#[diagnostic::on_unimplemented(
    message = "`enabled` does not name a gate",
    label = "a gate is a function marked `#[resolver]` that returns `bool` or `Result<bool, E>`",
    note = "the name may be misspelled or not imported"
)]
pub trait GateResolver: 'static {
    /// Exists where the resolver can be a gate.
    #[doc(hidden)]
    const FITS: () = ();

    /// Its place in the graph.
    #[doc(hidden)]
    fn gate() -> &'static Instance;

    /// Runs it.
    #[doc(hidden)]
    fn decide<'a>(walk: &'a Walk<'a>) -> BoxFuture<'a, Result<bool, Halt>>;
}

#[diagnostic::do_not_recommend]
impl<R: Resolver<Output: Verdict>> GateResolver for R {
    fn gate() -> &'static Instance {
        R::instance()
    }

    fn decide<'a>(walk: &'a Walk<'a>) -> BoxFuture<'a, Result<bool, Halt>> {
        Box::pin(async move {
            let settled = walk.resolve::<R>(false, R::instance().node.name).await?;
            settled
                .outcome()
                .map(|outcome| outcome.as_ref().accepted().is_some_and(Verdict::is_open))
                .map_err(Halt::clone)
        })
    }
}

/// What a gate returns: `bool`.
#[diagnostic::on_unimplemented(
    message = "a gate returns `bool` or `Result<bool, E>`, but this resolver's value is a `{Self}`",
    label = "this resolver cannot be a gate"
)]
pub trait Verdict {
    /// Whether the item is there for the caller.
    fn is_open(&self) -> bool;
}

impl Verdict for bool {
    fn is_open(&self) -> bool {
        *self
    }
}

/// A gate of an item: a resolver that decides whether the item is there for a caller.
#[derive(Clone, Copy)]
pub struct Gate {
    /// Its place in the graph.
    pub(crate) edge: Edge,
    decide: for<'a> fn(&'a Walk<'a>) -> BoxFuture<'a, Result<bool, Halt>>,
}

impl Gate {
    /// The gate that `R` is, whose node this is.
    pub const fn of<R: GateResolver>(node: &'static Node) -> Self {
        Self { edge: Edge { parameter: "enabled", written: "bool", node, instance: R::gate }, decide: R::decide }
    }

    /// Identifies the gate.
    pub(crate) fn type_id(&self) -> TypeId {
        (self.edge.instance)().type_id()
    }

    /// Its name, as it is written in `enabled = ..`.
    pub(crate) fn shown(&self) -> Cow<'static, str> {
        (self.edge.instance)().shown()
    }

    /// Runs it for a call, which keeps the outcomes of its resolvers.
    pub(crate) async fn decide(&self, call: &Call) -> Result<bool, Halt> {
        let keys = Keys::default();
        let walk = Walk::new(call, &(), &(), &keys);
        (self.decide)(&walk).await
    }

    /// What is wrong with it, if it was not checked while the program compiled.
    pub(crate) fn mistake(&self) -> Option<String> {
        let check = self.edge.node.check_gate();
        check.report.failed().then(|| check.report.as_str().to_owned())
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Gate").field(&self.shown()).finish()
    }
}

impl Node {
    /// Checks a resolver that is a gate: nothing that it needs asks or takes arguments.
    pub const fn check_gate(&'static self) -> Check {
        let mut check = Check::new();
        // A cycle is reported where it is.
        if find_cycle(self, &mut Nodes::new(), &mut Nodes::new()).is_none() {
            check_below(self, &mut Nodes::new(), &mut check.report);
        }
        check
    }
}

const fn check_below(node: &'static Node, seen: &mut Nodes, report: &mut Report) {
    if seen.position(node).is_some() {
        return;
    }
    seen.push(node);
    let mut i = 0;
    while i < node.arguments.len() && !report.failed() {
        if node.arguments[i].is_argument {
            report.push(&["resolver `", node.name, "` (", node.at, ") takes the argument `", node.arguments[i].name]);
            report.push(&[
                "`, but a gate runs where there are no arguments: use a resolver that takes none, here and below",
            ]);
        }
        i += 1;
    }
    if node.asks && !report.failed() {
        report.push(&["resolver `", node.name, "` (", node.at, ") asks, but a gate cannot ask: "]);
        report.push(&["use a resolver that does not, here and below"]);
    }
    let mut i = 0;
    while i < node.below.len() && !report.failed() {
        check_below(node.below[i], seen, report);
        i += 1;
    }
}
