use super::{Prompt, Resource, Tool};
use crate::graph::{Gate, GateResolver};

/// Puts an item, or a list of items, behind a gate, as `enabled = ..` does in an attribute.
///
/// A gate is a resolver of `bool`, named as in `#[resolve(..)]`. An item with several gates is visible if all of them
/// are open. [`#[tool]`](macro@crate::tool) describes gates.
///
/// ```
/// use rejoinder::{prelude::*, testing::Client};
///
/// #[resolver]
/// fn is_admin(ctx: Context) -> bool {
///     ctx.header("x-role") == Some("admin")
/// }
///
/// #[tool]
/// async fn restart() {}
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
/// let client = Client::new(Server::new("plant", "1.0.0").nest("admin", tools![restart].enabled::<is_admin>()));
/// assert!(client.list_tools().await?.is_empty());
/// assert_eq!(client.header("x-role", "admin").list_tools().await?.len(), 1);
/// # Ok(())
/// # }
/// ```
pub trait Gated: Sized {
    /// Puts it behind a gate.
    #[doc(hidden)]
    fn behind(self, gate: Gate) -> Self;

    /// Puts it behind a gate, besides those that it has.
    ///
    /// A gate that asks or takes arguments is an error when the server is built.
    #[must_use]
    fn enabled<R: GateResolver>(self) -> Self {
        self.behind(Gate::of::<R>(R::gate().node))
    }
}

macro_rules! gated {
    ($($item:ty)*) => { $(
        impl Gated for $item {
            fn behind(mut self, gate: Gate) -> Self {
                self.function.gates.push(gate);
                self
            }
        }
    )* };
}

gated!(Tool Prompt Resource);

impl<I: Gated> Gated for Vec<I> {
    fn behind(self, gate: Gate) -> Self {
        self.into_iter().map(|item| item.behind(gate)).collect()
    }
}
