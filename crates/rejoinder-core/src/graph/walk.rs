use std::{
    any::{Any, TypeId},
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::OnceCell;

use super::{Doubles, Keys, Ran, Resolver};
use crate::{
    ask::{Ask, Outcome},
    call::{ArgumentSet, Call, Param},
    error::{Halt, ToolError},
};

/// A call's arguments, by name.
pub trait Arguments: Send + Sync {
    /// The argument of that name and type.
    fn get(&self, name: &str, ty: TypeId) -> Option<&(dyn Any + Send + Sync)>;
}

/// The arguments of a function.
#[derive(Debug)]
pub struct FunctionArguments<'a, S> {
    /// What is known of them.
    pub params: &'static [Param],
    /// Their values.
    pub values: &'a S,
}

impl<S: ArgumentSet> Arguments for FunctionArguments<'_, S> {
    fn get(&self, name: &str, _: TypeId) -> Option<&(dyn Any + Send + Sync)> {
        self.values.get(self.params.iter().position(|param| param.name == name)?)
    }
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
    doubles: Option<&'a Doubles>,
    ran: Option<&'a Ran>,
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
        let (doubles, ran) = (call.doubles(), call.extension());
        Self { call, arguments, receiver, keys, doubles, ran, memo: Mutex::default() }
    }

    /// The call.
    pub fn call(&self) -> &'a Call {
        self.call
    }

    /// The argument of that name.
    ///
    /// # Panics
    ///
    /// If there is none, or one of another type: that there is was checked before anything runs.
    pub fn argument<T: 'static>(&self, name: &'static str) -> &'a T {
        let argument = self.arguments.get(name, TypeId::of::<T>()).and_then(|argument| argument.downcast_ref());
        argument.expect("it was checked that the item has this argument, of this type")
    }

    /// Whose methods the item and its resolvers are.
    ///
    /// # Panics
    ///
    /// If it is of another type: the resolvers of a group can be named within it only.
    pub fn receiver<T: 'static>(&self) -> &'a T {
        self.receiver.downcast_ref().expect("a group's resolvers are named as `Self::..`, within it")
    }

    /// The outcome of a resolver.
    ///
    /// # Errors
    ///
    /// What stopped it, or that the answer is still out.
    pub async fn get<R: Resolver>(&self) -> Settled<R::Output> {
        if !R::CACHED {
            return self.run::<R>().await;
        }
        let cell = {
            let mut memo = self.memo.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(memo.entry(TypeId::of::<R>()).or_insert_with(|| Arc::new(OnceCell::<Settled<R::Output>>::new())))
        };
        let cell = cell.downcast::<OnceCell<Settled<R::Output>>>().expect("the entry was made for this resolver");
        cell.get_or_init(|| self.run::<R>()).await.clone()
    }

    async fn run<R: Resolver>(&self) -> Settled<R::Output> {
        if let Some(value) = self.doubles.and_then(Doubles::value::<R>) {
            return Ok(Arc::new(Outcome::Accepted(value)));
        }
        R::run(self).await.map(Arc::new)
    }

    /// Notes that a resolver's function is called, for a test that wants to know.
    pub fn enter<R: Resolver>(&self) {
        if let Some(ran) = self.ran {
            ran.note(R::node().name);
        }
    }

    /// Settles what a resolver returned.
    ///
    /// # Errors
    ///
    /// What stopped it, or that the answer is still out.
    pub async fn settle<R: Resolver>(
        &self,
        returned: Result<Ask<R::Output>, ToolError>,
    ) -> Result<Outcome<R::Output>, Halt> {
        returned?.settle(self.call, self.keys.get(R::node())).await
    }
}

impl fmt::Debug for Walk<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Walk").field("call", self.call).finish_non_exhaustive()
    }
}
