//! Gates: resolvers of `bool` that decide who sees a tool, prompt or resource.

use std::{any::TypeId, borrow::Cow, fmt};

use futures_util::future::BoxFuture;

use super::{Edge, Instance, Keys, Node, Resolver, Walk};
use crate::{
    ask::Outcome,
    call::{Call, Halt},
};

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
impl<R: Resolver<Output = bool>> GateResolver for R {
    fn gate() -> &'static Instance {
        R::instance()
    }

    fn decide<'a>(walk: &'a Walk<'a>) -> BoxFuture<'a, Result<bool, Halt>> {
        Box::pin(async move {
            let settled = walk.resolve::<R>(false, R::instance().node.name).await?;
            settled.outcome().map(|outcome| *outcome == Outcome::Accepted(true)).map_err(Halt::clone)
        })
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
