use std::{
    any::{Any, TypeId},
    borrow::Cow,
    collections::HashMap,
    fmt,
    future::ready,
    sync::Arc,
};

use futures_util::future::{BoxFuture, Either};
use tokio::sync::OnceCell;

use super::{Edge, Instance, PipeField, Resolver, below};
use crate::{
    argument::{ArgumentSet, ReadParams},
    ask::{Ask, Outcome},
    call::{Call, CallTrace, Halt},
    error::CallError,
};

/// A call's arguments, by name.
pub trait Arguments: Send + Sync {
    /// The argument of that name and type.
    fn get(&self, name: &str, ty: TypeId) -> Option<&(dyn Any + Send + Sync)>;
}

/// There are none: pipes and completion functions run before a function has its arguments.
impl Arguments for () {
    fn get(&self, _: &str, _: TypeId) -> Option<&(dyn Any + Send + Sync)> {
        None
    }
}

/// The arguments of a function.
#[derive(Debug)]
pub struct FunctionArguments<'a, F: ReadParams>(pub &'a F::Set);

impl<F: ReadParams> Arguments for FunctionArguments<'_, F> {
    fn get(&self, name: &str, _: TypeId) -> Option<&(dyn Any + Send + Sync)> {
        // What the server supplies may have the name of an argument.
        F::PARAMS.iter().enumerate().filter(|(_, param)| param.name == name).find_map(|(index, _)| self.0.get(index))
    }
}

/// The key under which each resolver of one item asks: its name, numbered where two that ask have the same.
///
/// The numbers follow the order in which the resolvers are reached, so every replica finds the same ones.
#[derive(Debug, Default)]
pub struct Keys(Vec<(TypeId, Cow<'static, str>)>);

impl Keys {
    /// The keys of everything that these edges reach.
    pub fn of(edges: &[Edge]) -> Self {
        let mut taken: HashMap<&'static str, usize> = HashMap::new();
        let asking = below(edges).into_iter().filter(|instance| instance.node.asks);
        let keys = asking.map(|instance| {
            let name = instance.node.key.unwrap_or(instance.node.name);
            let count = taken.entry(name).or_insert(0);
            let key = if *count == 0 { Cow::Borrowed(name) } else { Cow::Owned(format!("{name}#{count}")) };
            *count += 1;
            (instance.type_id(), key)
        });
        Self(keys.collect())
    }

    /// The key of a resolver.
    pub fn get(&self, instance: &Instance) -> &str {
        let id = instance.type_id();
        // There are few, so the first that fits is found faster than by a hash.
        self.0.iter().find(|(of, _)| *of == id).map_or(instance.node.name, |(_, key)| key)
    }
}

/// The outcome of a resolver, or what stopped it.
type Settling<T> = Result<Outcome<T>, Halt>;

/// What a test puts in the place of a resolver.
pub(crate) enum Double<T> {
    /// A function that makes its value.
    Value(Box<dyn Fn() -> T + Send + Sync>),
    /// Another resolver.
    Resolver(for<'a> fn(&'a Walk<'a>) -> BoxFuture<'a, Settling<T>>),
}

/// The outcome of a resolver, or what stopped it, as all its consumers share it.
#[derive(Debug)]
pub struct Settled<T>(Arc<OnceCell<Settling<T>>>);

impl<T> Settled<T> {
    /// Its outcome.
    ///
    /// # Errors
    ///
    /// The error that stopped it, or [`Halt::Pending`] while its question is open.
    ///
    /// # Panics
    ///
    /// Never: it is made when the resolver has settled.
    pub fn outcome(&self) -> Result<&Outcome<T>, &Halt> {
        self.0.get().expect("the resolver has settled").as_ref()
    }
}

/// A walk through the resolvers of one item.
///
/// Each resolver runs at most once in a round, however many parameters use it, also if it fails: the call keeps the
/// outcomes. Independent resolvers run
/// concurrently, in the future of the call.
pub struct Walk<'a> {
    call: &'a Call,
    arguments: &'a dyn Arguments,
    receiver: &'a (dyn Any + Send + Sync),
    keys: &'a Keys,
    /// What passes through a pipe.
    field: PipeField,
    trace: Option<CallTrace>,
}

impl<'a> Walk<'a> {
    /// A walk that has not begun.
    pub fn new(
        call: &'a Call,
        arguments: &'a dyn Arguments,
        receiver: &'a (dyn Any + Send + Sync),
        keys: &'a Keys,
    ) -> Self {
        Self { call, arguments, receiver, keys, field: PipeField::argument(""), trace: call.trace() }
    }

    /// The same walk, for the pipes of that field.
    pub(super) fn of_field(&self, field: PipeField) -> Self {
        Self { field, trace: self.trace.clone(), ..*self }
    }

    /// What passes through a pipe.
    pub(super) fn field(&self) -> PipeField {
        self.field
    }

    /// The call.
    pub fn call(&self) -> &'a Call {
        self.call
    }

    /// The argument of that name.
    ///
    /// # Panics
    ///
    /// If there is no such argument, or it has another type. The check of the graph rules that out.
    pub fn argument<T: 'static>(&self, name: &'static str) -> &'a T {
        let argument = self.arguments.get(name, TypeId::of::<T>()).and_then(|argument| argument.downcast_ref());
        argument.expect("the graph was checked: the item has this argument, of this type")
    }

    /// The value whose methods the item and its resolvers are.
    ///
    /// # Panics
    ///
    /// If it is of another type: the resolvers of an `impl` block can be named within it only.
    pub fn receiver<T: 'static>(&self) -> &'a T {
        self.receiver.downcast_ref().expect("the resolvers of a block are named as `Self::..`, within it")
    }

    /// Runs a resolver for a parameter. Its outcome may be [`Halt::Pending`].
    ///
    /// # Errors
    ///
    /// A failure, or a decline where the value is required: these end the call although other resolvers still run.
    pub async fn resolve<R: Resolver>(
        &self,
        is_optional: bool,
        parameter: &'static str,
    ) -> Result<Settled<R::Output>, Halt> {
        let settled = self.get::<R>().await;
        match settled.outcome() {
            Ok(_) if is_optional => {}
            // What the client was asked has a key, which it knows; it does not know the parameters of resolvers.
            Ok(outcome) if R::instance().node.asks => drop(outcome.needed(self.keys.get(R::instance()))?),
            Ok(outcome) => drop(outcome.needed(parameter)?),
            Err(Halt::Pending) => {}
            Err(halt) => return Err(halt.clone()),
        }
        Ok(settled)
    }

    async fn get<R: Resolver>(&self) -> Settled<R::Output> {
        if !R::instance().node.cached {
            return Settled(Arc::new(OnceCell::new_with(Some(self.run::<R>().await))));
        }
        let cell = self.call.shared::<R, OnceCell<Settling<R::Output>>>();
        let settled = cell.get_or_init(|| self.run::<R>()).await;
        let instance = R::instance();
        if instance.node.asks && matches!(settled, Err(Halt::Pending)) {
            self.call.record().keep_waiting(self.keys.get(instance));
        }
        Settled(cell)
    }

    fn run<R: Resolver>(&self) -> BoxFuture<'_, Settling<R::Output>> {
        match self.call.replaced::<Double<R::Output>>(TypeId::of::<R>()) {
            Some(Double::Value(value)) => Box::pin(ready(Ok(Outcome::Accepted(value())))),
            Some(Double::Resolver(run)) => run(self),
            None => R::run(self),
        }
    }

    /// Notes for a test that a resolver's function is called.
    pub fn enter<R: Resolver>(&self) {
        if let Some(trace) = &self.trace {
            trace.lock().ran.push(R::instance().shown());
        }
    }

    /// Settles what a resolver returned.
    ///
    /// Most resolvers know their value. A question has its own boxed future, so that the others stay small.
    pub fn settle<R: Resolver>(
        &self,
        returned: Result<Ask<R::Output>, CallError>,
    ) -> impl Future<Output = Settling<R::Output>> + Send {
        match returned.map(Ask::into_known) {
            Ok(Ok(value)) => {
                if R::instance().node.asks {
                    self.call.note_known(self.keys.get(R::instance()));
                }
                Either::Left(ready(Ok(Outcome::Accepted(value))))
            }
            Ok(Err(question)) => Either::Right(Box::pin(async {
                let settled = self.call.settle(question, self.keys.get(R::instance())).await;
                // The error is to name all that the client lacks, so the other resolvers have their turn first.
                match settled {
                    Err(Halt::Failed(error)) if self.call.note_missing(&error) => Err(Halt::Pending),
                    settled => settled,
                }
            })),
            Err(error) => Either::Left(ready(Err(error.into()))),
        }
    }
}

impl fmt::Debug for Walk<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Walk").field("call", self.call).finish_non_exhaustive()
    }
}
