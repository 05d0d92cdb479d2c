//! The valid counterparts of `fail/parameter_type`.

use std::{borrow::Cow, collections::HashMap};

use rejoinder::{Call, FromCall, prelude::*};

struct Db;
type Store = Dep<Db>;

#[derive(serde::Deserialize, schemars::JsonSchema)]
pub struct Filter {
    word: String,
}

/// Both: so each use says which.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Who {
    name: String,
}

impl FromCall for Who {
    async fn from_call(_: &Call, parameter: &'static str) -> Result<Self, CallError> {
        Ok(Self { name: parameter.to_owned() })
    }
}

/// An alias of an injected type is injected, and so is a dependency that borrows only when it is called.
#[tool]
async fn count(table: String, db: Store, check: Dep<Box<dyn Fn(&str) -> bool + Send + Sync>>) -> String {
    let _ = db;
    check(&table).to_string()
}

#[tool]
pub fn filter(filter: Option<Filter>, map: HashMap<String, u8>, word: Cow<'static, str>) -> String {
    format!("{:?} {map:?} {word}", filter.map(|filter| filter.word))
}

#[tool]
fn greet(#[arg] who: Who, #[inject] by: Who, #[inject] ctx: Context) -> String {
    format!("{} {} {}", who.name, by.name, ctx.request_id())
}

/// A form may be an argument, where the author says so.
#[derive(Elicit, serde::Deserialize, schemars::JsonSchema)]
struct Address {
    street: String,
}

#[tool]
fn ship(#[arg] address: Address) -> String {
    address.street
}

/// Inside a function, where names of the outside are not in sight.
fn main() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Inner(u8);

    #[tool]
    fn inner(inner: Inner) -> u8 {
        inner.0
    }

    assert_eq!(tools![count, filter, greet, ship, inner,].len(), 5);
}
