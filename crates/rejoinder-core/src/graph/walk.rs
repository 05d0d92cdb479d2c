use std::{
    any::{Any, TypeId},
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::OnceCell;

use super::{Keys, Resolver};
use crate::{ask::Outcome, call::Call, error::Halt};

/// A call's arguments, by name.
pub trait Arguments: Send + Sync {
    /// The argument of that name.
    fn get(&self, name: &str) -> Option<&(dyn Any + Send + Sync)>;
}

/// A resolver's outcome, as all its consumers share it.
pub type Settled<T> = Result<Arc<Outcome<T>>, Halt>;

/// One round's walk through the resolvers of one item.
///
/// Each resolver runs at most once, failures included, whatever the number of its consumers; those that do not need
/// each other run at the same time, in the task of the call.
pub struct Walk<'a> {
    call: &'a Call,
    arguments: &'a dyn Arguments,
    receiver: &'a (dyn Any + Send + Sync),
    keys: &'a Keys,
    memo: Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
}

impl<'a> Walk<'a> {
    /// A walk that has not begun.
    pub fn new(
        call: &'a Call,
        arguments: &'a dyn Arguments,
        receiver: &'a (dyn Any + Send + Sync),
        keys: &'a Keys,
    ) -> Self {
        Self { call, arguments, receiver, keys, memo: Mutex::default() }
    }

    /// The call.
    pub fn call(&self) -> &'a Call {
        self.call
    }

    /// The argument of that name; the compiler has checked that it is there and of this type.
    pub fn argument<T: 'static>(&self, name: &'static str) -> &'a T {
        let argument = self.arguments.get(name).and_then(|argument| argument.downcast_ref());
        argument.expect("the compiler checked that the item has this argument, of this type")
    }

    /// Whose methods these resolvers are.
    pub fn receiver<T: 'static>(&self) -> &'a T {
        self.receiver.downcast_ref().expect("a group's resolvers are used by its own items only")
    }

    /// The outcome of a resolver.
    ///
    /// # Errors
    ///
    /// What stopped it, or what it needs.
    pub async fn get<R: Resolver>(&self) -> Settled<R::Output> {
        if !R::CACHED {
            return R::run(self).await.map(Arc::new);
        }
        let cell = {
            let mut memo = self.memo.lock().unwrap_or_else(PoisonError::into_inner);
            let cell = memo.entry(TypeId::of::<R>()).or_insert_with(|| Arc::new(OnceCell::<Settled<R::Output>>::new()));
            Arc::clone(cell).downcast::<OnceCell<Settled<R::Output>>>()
        };
        let cell = cell.expect("the entry was made for this resolver");
        cell.get_or_init(async || R::run(self).await.map(Arc::new)).await.clone()
    }

    /// Settles what a resolver returned.
    ///
    /// # Errors
    ///
    /// What stopped it, or that the answer is still out.
    pub async fn settle<R: Resolver>(
        &self,
        returned: impl crate::ask::IntoAsk<R::Output>,
    ) -> Result<Outcome<R::Output>, Halt> {
        returned.into_ask()?.settle(self.call, self.keys.get(R::node())).await
    }
}

impl fmt::Debug for Walk<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Walk").field("call", self.call).finish_non_exhaustive()
    }
}

/// The worst of what stopped several resolvers; nothing if none was.
pub(crate) fn worst(halts: impl IntoIterator<Item = Halt>) -> Option<Halt> {
    halts.into_iter().reduce(|worst, next| if next.outranks(&worst) { next } else { worst })
}
