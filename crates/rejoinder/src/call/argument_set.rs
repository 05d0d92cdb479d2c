//! The plain parameters of one function, as a tuple: read in one pass, explained all at once.

use std::{any::Any, collections::BTreeMap, fmt, marker::PhantomData};

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{BadArguments, Param, Slot, Texts};
use crate::schema::InputSchema;

/// A tuple of [`Slot`]s: what the framework reads a call's arguments into.
pub trait ArgumentSet: Sized + Send + Sync + 'static {
    /// Which of the parameters are arguments.
    fn is_argument(index: usize) -> bool;

    /// The fast pass: one look at the input, no copy. The names of injected parameters are no arguments' names.
    ///
    /// # Errors
    ///
    /// Any mistake at all. [`ArgumentSet::explain`] then says what it was.
    fn from_map<'de, A: MapAccess<'de>>(params: &'static [Param], map: A) -> Result<Self, A::Error>;

    /// The slow pass, over arguments that the fast one refused.
    ///
    /// # Errors
    ///
    /// Everything that is wrong.
    fn explain(params: &'static [Param], arguments: &BTreeMap<String, &RawValue>) -> Result<Self, BadArguments>;

    /// Reads arguments that came as plain texts.
    ///
    /// # Errors
    ///
    /// Everything that is wrong.
    fn from_texts(params: &'static [Param], texts: &Texts<'_>) -> Result<Self, BadArguments>;

    /// The argument at that place; `None` where an injected parameter stands.
    fn get(&self, index: usize) -> Option<&(dyn Any + Send + Sync)>;

    /// Adds every argument to the schema.
    fn describe(params: &'static [Param], schema: &mut InputSchema);
}

/// Reads `S` from the front of `json` and tells how many bytes it took.
///
/// # Errors
///
/// When the input does not begin with an object that fits; [`ArgumentSet::explain`] then says why.
pub(crate) fn read_arguments<S: ReadParams>(json: &str) -> Result<(S::Set, usize), serde_json::Error> {
    let mut stream = serde_json::Deserializer::from_str(json).into_iter::<Read<S>>();
    match stream.next() {
        Some(read) => read.map(|Read(set)| (set, stream.byte_offset())),
        None => Err(Error::custom("nothing to read")),
    }
}

/// A function's argument tuple together with what its author wrote about it.
pub trait ReadParams: 'static {
    /// The tuple.
    type Set: ArgumentSet;

    /// The parameters, one for each slot.
    const PARAMS: &'static [Param];
}

struct Read<S: ReadParams>(S::Set);

impl<'de, S: ReadParams> serde::Deserialize<'de> for Read<S> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object<S>(PhantomData<S>);
        impl<'de, S: ReadParams> Visitor<'de> for Object<S> {
            type Value = S::Set;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<S::Set, A::Error> {
                S::Set::from_map(S::PARAMS, map)
            }
        }
        deserializer.deserialize_map(Object::<S>(PhantomData)).map(Read)
    }
}

/// Reads a key as the index of the parameter of that name.
struct Key(&'static [Param]);

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Key {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an argument's name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().position(|param| param.name == name))
    }
}

/// What is wrong with an argument that was not sent.
pub(crate) const REQUIRED: &str = "it is required and was not sent";

/// Refuses the names that are no arguments', and says which there are.
fn refuse_unknown<'a, S: ArgumentSet>(params: &[Param], sent: impl Iterator<Item = &'a str>, bad: &mut BadArguments) {
    let known = || (0..params.len()).filter(|&index| S::is_argument(index)).map(|index| params[index].name);
    let mut reason = None;
    for name in sent.filter(|sent| !known().any(|known| known == *sent)) {
        let reason = reason.get_or_insert_with(|| {
            match known().map(|name| format!("`{name}`")).collect::<Vec<_>>().as_slice() {
                [] => "there is no such argument, and none is taken".to_owned(),
                names => format!("there is no such argument; the arguments are {}", names.join(", ")),
            }
        });
        if !bad.push(name, &**reason) {
            break;
        }
    }
}

/// The argument, with the path inside it: `order.lines[2]`.
pub(crate) fn path(name: &str, below: &str) -> String {
    match below {
        "" => name.to_owned(),
        index if index.starts_with('[') => format!("{name}{index}"),
        below => format!("{name}.{below}"),
    }
}

macro_rules! argument_set {
    ($(#[$meta:meta])* $($slot:ident $value:ident $index:literal)*) => {
        $(#[$meta])*
        impl<$($slot: Slot),*> ArgumentSet for ($($slot,)*) {
            fn is_argument(index: usize) -> bool {
                match index { $($index => $slot::ARGUMENT,)* _ => false }
            }

            fn from_map<'de, Map: MapAccess<'de>>(params: &'static [Param], mut map: Map) -> Result<Self, Map::Error> {
                $(let mut $value: Option<$slot> = None;)*
                while let Some(index) = map.next_key_seed(Key(params))? {
                    match index {
                        $(Some($index) if $slot::ARGUMENT && $value.is_none() => $value = Some($slot::next(&mut map)?),)*
                        _ => return Err(Map::Error::custom("unknown or repeated argument")),
                    }
                }
                Ok(($(match $value.or_else(|| $slot::absent(&params[$index])) {
                    Some(value) => value,
                    None => return Err(Map::Error::missing_field(params[$index].name)),
                },)*))
            }

            fn explain(params: &'static [Param], arguments: &BTreeMap<String, &RawValue>) -> Result<Self, BadArguments> {
                let mut bad = BadArguments::default();
                refuse_unknown::<Self>(params, arguments.keys().map(String::as_str), &mut bad);
                $(let $value: Option<$slot> = match arguments.get(params[$index].name).filter(|_| $slot::ARGUMENT) {
                    Some(json) => $slot::read(json).map_err(|(below, reason)| { bad.push(path(params[$index].name, &below), reason); }).ok(),
                    None => $slot::absent(&params[$index]).or_else(|| { bad.push(params[$index].name, REQUIRED); None }),
                };)*
                match ($($value,)*) {
                    ($(Some($value),)*) if bad.0.is_empty() => Ok(($($value,)*)),
                    _ => Err(bad),
                }
            }

            fn from_texts(params: &'static [Param], texts: &Texts<'_>) -> Result<Self, BadArguments> {
                let mut bad = BadArguments::default();
                refuse_unknown::<Self>(params, texts.names(), &mut bad);
                $(let $value: Option<$slot> = match texts.get(params[$index].name).filter(|_| $slot::ARGUMENT) {
                    Some(text) => $slot::from_text(text).map_err(|reason| { bad.push(params[$index].name, reason); }).ok(),
                    None => $slot::absent(&params[$index]).or_else(|| { bad.push(params[$index].name, REQUIRED); None }),
                };)*
                match ($($value,)*) {
                    ($(Some($value),)*) if bad.0.is_empty() => Ok(($($value,)*)),
                    _ => Err(bad),
                }
            }

            fn get(&self, index: usize) -> Option<&(dyn Any + Send + Sync)> {
                let ($($value,)*) = self;
                match index { $($index if $slot::ARGUMENT => Some($value),)* _ => None }
            }

            fn describe(params: &'static [Param], schema: &mut InputSchema) {
                $($slot::describe(&params[$index], schema);)*
            }
        }
    };
}

argument_set!(
    #[expect(unused_variables, reason = "where there are no arguments, nothing is described")]
);

/// One implementation for each number of parameters.
macro_rules! each_length {
    ([$($taken:tt)*]) => {};
    ([$($taken:tt)*] $slot:ident $value:ident $index:literal $($rest:tt)*) => {
        argument_set!($($taken)* $slot $value $index);
        each_length!([$($taken)* $slot $value $index] $($rest)*);
    };
}

each_length!([] A a 0 B b 1 C c 2 D d 3 E e 4 F f 5 G g 6 H h 7 I i 8 J j 9 K k 10 L l 11 M m 12 N n 13 O o 14 P p 15);
