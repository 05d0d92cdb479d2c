use std::{
    any::{Any, TypeId},
    fmt,
    future::ready,
    sync::{Arc, Mutex, PoisonError},
};

use futures_util::future::Either;
use tokio::sync::OnceCell;

use super::{Doubles, Keys, Ran, Resolver, by_type::ByType};
use crate::{
    BoxFuture,
    ask::{Ask, Outcome},
    call::{ArgumentSet, Call, Param},
    error::{CallError, Halt},
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

/// What became of a resolver: its outcome, or what stopped it.
type Settling<T> = Result<Outcome<T>, Halt>;

/// What became of a resolver, as all its consumers share it.
#[derive(Debug)]
pub struct Settled<T>(Arc<OnceCell<Settling<T>>>);

impl<T> Settled<T> {
    /// Its outcome.
    ///
    /// # Errors
    ///
    /// What stopped it, or that the answer is still out.
    ///
    /// # Panics
    ///
    /// Never: it is made when the resolver has settled.
    pub fn outcome(&self) -> Result<&Outcome<T>, &Halt> {
        self.0.get().expect("the resolver has settled").as_ref()
    }
}

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
    memo: Mutex<ByType<Arc<dyn Any + Send + Sync>>>,
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
        let memo = Mutex::new(ByType::with_capacity(keys.resolvers()));
        Self { call, arguments, receiver, keys, doubles, ran, memo }
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

    /// The outcome of a resolver, or what stopped it.
    ///
    /// # Panics
    ///
    /// Never: what is kept under a resolver's type was made for it.
    pub async fn get<R: Resolver>(&self) -> Settled<R::Output> {
        if !R::CACHED {
            return Settled(Arc::new(OnceCell::new_with(Some(self.run::<R>().await))));
        }
        let cell = {
            let mut memo = self.memo.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(memo.get_or_insert::<R>(|| Arc::new(OnceCell::<Settling<R::Output>>::new())))
        };
        let cell = cell.downcast::<OnceCell<Settling<R::Output>>>().expect("the entry was made for this resolver");
        cell.get_or_init(|| self.run::<R>()).await;
        Settled(cell)
    }

    fn run<R: Resolver>(&self) -> BoxFuture<'_, Settling<R::Output>> {
        match self.doubles.and_then(Doubles::value::<R>) {
            Some(value) => Box::pin(ready(Ok(Outcome::Accepted(value)))),
            None => R::run(self),
        }
    }

    /// Notes that a resolver's function is called, for a test that wants to know.
    pub fn enter<R: Resolver>(&self) {
        if let Some(ran) = self.ran {
            ran.note(R::instance().shown());
        }
    }

    /// Settles what a resolver returned.
    ///
    /// Most know their value. A question has a future of its own, so that the others need no room for one.
    pub fn settle<R: Resolver>(
        &self,
        returned: Result<Ask<R::Output>, CallError>,
    ) -> impl Future<Output = Settling<R::Output>> + Send {
        match returned.map(Ask::into_known) {
            Ok(Ok(value)) => Either::Left(ready(Ok(Outcome::Accepted(value)))),
            Ok(Err(question)) => Either::Right(Box::pin(question.settle(self.call, self.keys.get(R::instance())))),
            Err(error) => Either::Left(ready(Err(error.into()))),
        }
    }
}

impl fmt::Debug for Walk<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Walk").field("call", self.call).finish_non_exhaustive()
    }
}
