//! What users are asked to fill in.

use rejoinder::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

/// A name.
#[derive(Elicit, Clone)]
pub struct User {
    pub name: String,
}

/// Yes or no.
#[derive(Elicit, Clone)]
pub struct Yes {
    pub ok: bool,
}

/// A field of each kind, none of which must be filled in.
#[derive(Elicit, Clone, Serialize, JsonSchema)]
pub struct Form {
    #[elicit(default = Colour::Red)]
    colour: Colour,
    #[elicit(default = 1, min = 1, max = 3)]
    count: i64,
    note: Option<String>,
}

#[derive(ElicitEnum, Clone, Copy, Serialize, JsonSchema)]
#[elicit(rename_all = "lowercase")]
#[serde(rename_all = "lowercase")]
enum Colour {
    Red,
    Green,
}
