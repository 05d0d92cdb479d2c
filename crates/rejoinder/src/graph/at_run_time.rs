//! Resolvers of a tool that is made at run time. They are checked when its server is built, as the compiler checks others.

use std::{
    any::{Any, TypeId},
    collections::{HashMap, HashSet},
};

use crate::model::JsonObject;
use futures_util::future::{BoxFuture, try_join_all};
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};

use super::{
    Arguments, Edge, Instance, ItemNode, Keys, Node, NodeArgument, Resolver, Settled, Walk, below,
    check::{Report, check_asking, check_known},
};
use crate::{
    argument::{ArgumentErrors, ByName},
    ask::Outcome,
    call::{Call, Halt},
    error::CallError,
    inject::{Context, Resolved, source},
    schema::generator,
};

/// The resolvers that a tool needs before its function is called.
#[derive(Debug, Clone, Default)]
pub(crate) struct Resolvers {
    edges: Vec<Edge>,
    get: Vec<Get>,
}

type Get = for<'a> fn(&'a Walk<'a>) -> BoxFuture<'a, Result<Option<ResolvedValue>, Halt>>;

/// A resolver, an argument that it takes by name, and how that is found.
type Taken = (&'static Node, &'static NodeArgument<'static>, ByName);

/// A resolver, and its outcome.
type ResolvedValue = (TypeId, Box<dyn Any + Send + Sync>);

impl Resolvers {
    /// Adds a resolver whose value the function requires.
    pub(crate) fn add<R: Resolver>(&mut self) {
        let node = R::instance().node;
        self.edges.push(Edge::to(node, R::instance, node.name, node.returns));
        self.get.push(|walk| {
            Box::pin(async move {
                let settled = walk.resolve::<R>(false, R::instance().node.name).await?;
                let is_there = accepted(&settled).is_some();
                Ok(is_there.then(|| (TypeId::of::<R>(), Box::new(settled) as _)))
            })
        });
    }

    /// Their places in the graph.
    pub(crate) fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Everything that is wrong with them in a tool of that name and schema.
    pub(crate) fn mistakes(&self, tool: &str, schema: &JsonObject, by_hand: bool) -> Vec<String> {
        let arguments = schema_arguments(schema);
        let item = ItemNode::new("tool", tool, &arguments, &self.edges, by_hand);
        let mut mistakes = Vec::new();
        // What several resolvers take and the tool does not have is one mistake.
        let (mut asking, mut unknown, mut wrong) = (HashSet::new(), HashSet::new(), HashSet::new());
        for Instance { node, arguments, .. } in below(&self.edges) {
            for NodeArgument { name, written, .. } in
                arguments.iter().filter(|it| it.is_argument && it.by_name.is_none())
            {
                mistakes.push(format!(
                    "resolver `{}` ({}) takes the argument `{name}` as a `{written}`, which only a pipe can make: use the \
                     resolver in a function marked `#[tool]`",
                    node.name, node.at
                ));
            }
            for argument in node.arguments.iter().filter(|argument| unknown.insert(argument.name)) {
                mistakes.extend(reported(|report| check_known(&item, node, argument, report)));
            }
            if asking.insert(node.id) {
                mistakes.extend(reported(|report| check_asking(&item, node, report)));
            }
        }
        mistakes.extend(self.arguments().into_iter().filter_map(|(node, argument, by_name)| {
            let sent = arguments.iter().find(|sent| sent.name == argument.name)?.written;
            let schema = (by_name.schema)(&mut generator(|settings| settings.for_deserialize()));
            let taken = ty(&schema);
            let fits = sent == taken || sent == "any" || taken == "any" || (sent, taken) == ("integer", "number");
            let NodeArgument { name, written, .. } = argument;
            (!fits && wrong.insert((name, written))).then(|| {
                format!(
                    "the argument `{name}` is a `{sent}`, but resolver `{}` ({}) takes it as a `{written}`",
                    node.name, node.at
                )
            })
        }));
        mistakes
    }

    /// The arguments that they take by name, and which of them does.
    fn arguments(&self) -> Vec<Taken> {
        let taken = |instance: &'static Instance| {
            instance.arguments.iter().filter_map(|argument| Some((instance.node, argument, argument.by_name?)))
        };
        below(&self.edges).into_iter().flat_map(taken).collect()
    }

    /// Reads the arguments that they take by name.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with them.
    pub(crate) fn read(&self, sent: &JsonObject) -> Result<NamedArguments, ArgumentErrors> {
        let (mut named, mut bad) = (NamedArguments::default(), ArgumentErrors::default());
        // Several resolvers may take one argument: what is wrong with it is reported once.
        let mut reported = HashSet::new();
        for (_, NodeArgument { name, .. }, by_name) in self.arguments() {
            let json: Option<Box<RawValue>> = sent.get(*name).and_then(|value| to_raw_value(value).ok());
            match (by_name.read)(json.as_deref()) {
                Ok(value) => {
                    named.0.insert((*name, (*value).type_id()), value);
                }
                Err(error) => {
                    let error = error.of(name);
                    if reported.insert(error.field.clone()) {
                        bad.push(error);
                    }
                }
            }
        }
        if bad.0.is_empty() { Ok(named) } else { Err(bad) }
    }

    /// Runs them.
    ///
    /// # Errors
    ///
    /// The error that stopped one of them, or [`Halt::Pending`] while a question is open.
    pub(crate) async fn resolve(&self, call: &Call, arguments: &NamedArguments) -> Result<Resolved, Halt> {
        let keys = Keys::of(&self.edges);
        let walk = Walk::new(call, arguments, &(), &keys);
        let values = try_join_all(self.get.iter().map(|get| get(&walk))).await?;
        values.into_iter().collect::<Option<_>>().ok_or(Halt::Pending)
    }
}

/// What a check reports, if anything.
fn reported(check: impl FnOnce(&mut Report)) -> Option<String> {
    let mut report = Report::new();
    check(&mut report);
    report.failed().then(|| report.as_str().to_owned())
}

/// The arguments that the schema of a tool describes.
pub(crate) fn schema_arguments(schema: &JsonObject) -> Vec<NodeArgument<'_>> {
    let properties = schema.get("properties").and_then(|properties| properties.as_object()).into_iter().flatten();
    properties.map(|(name, schema)| NodeArgument::untyped(name, ty(schema), source::ARGUMENT)).collect()
}

/// The type of a schema, as far as one word says it.
fn ty(schema: &Value) -> &str {
    schema.get("type").and_then(|ty| ty.as_str()).unwrap_or("any")
}

fn accepted<T>(settled: &Settled<T>) -> Option<&T> {
    match settled.outcome() {
        Ok(Outcome::Accepted(value)) => Some(value),
        _ => None,
    }
}

impl Context {
    /// The value of a resolver, in a tool that was [given it at run time](crate::item::Tool::resolve).
    ///
    /// # Errors
    ///
    /// If the tool was not given it.
    pub fn resolved<R: Resolver>(&self) -> Result<&R::Output, CallError> {
        let resolved =
            || accepted(self.resolved.as_ref()?.get(&TypeId::of::<R>())?.downcast_ref::<Settled<R::Output>>()?);
        resolved().ok_or_else(|| {
            let name = R::instance().shown();
            CallError::mistake(format!(
                "the tool was not given the resolver `{name}`: add `.resolve::<{name}>()` to it"
            ))
        })
    }
}

/// Arguments by name, each in the type in which a resolver takes it.
#[derive(Debug, Default)]
pub(crate) struct NamedArguments(HashMap<(&'static str, TypeId), Box<dyn Any + Send + Sync>>);

impl Arguments for NamedArguments {
    fn get(&self, name: &str, ty: TypeId) -> Option<&(dyn Any + Send + Sync)> {
        let found = self.0.iter().find(|((other, of), _)| *other == name && *of == ty);
        found.map(|(_, value)| &**value)
    }
}
