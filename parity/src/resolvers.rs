//! The resolvers, each of which asks, computes or fails in one way, and their forms.

use std::io;

use rejoinder::{
    ask::{Roots, Sample, Sampling},
    prelude::*,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::{
    script::Script,
    tools::{action, yes_no},
};

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

/// A field of each kind. All are optional.
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

#[resolver]
pub fn who(script: Dep<Script>) -> Ask<User> {
    Ask::user(script.asks("who"))
}

#[resolver]
pub fn sure(script: Dep<Script>) -> Ask<Yes> {
    Ask::user(script.asks("sure"))
}

#[resolver]
pub fn sure_as(#[resolve(who)] u: &User, script: Dep<Script>) -> Ask<Yes> {
    script.ran("sure_as");
    Ask::user(format!("Go as {}?", u.name))
}

#[resolver]
pub fn third(#[resolve(sure_as)] _y: &Yes, script: Dep<Script>) -> Ask<Yes> {
    Ask::user(script.asks("third"))
}

#[resolver]
pub fn combine(#[resolve(who)] u: &User, #[resolve(sure)] y: &Yes, script: Dep<Script>) -> String {
    script.ran("combine");
    format!("{}/{}", u.name, yes_no(y.ok))
}

#[resolver]
pub fn maybe(path: &str, script: Dep<Script>) -> Ask<Yes> {
    script.ran("maybe");
    if path == "/empty" { Ask::known(Yes { ok: true }) } else { Ask::user(format!("Delete {path}?")) }
}

#[resolver]
pub fn price(title: &str, script: Dep<Script>) -> usize {
    script.ran("price");
    title.chars().count()
}

#[resolver]
pub fn taxed(#[resolve(price)] p: usize, script: Dep<Script>) -> usize {
    script.ran("taxed");
    p * 2
}

#[resolver]
pub fn deploy(script: Dep<Script>) -> Ask<Yes> {
    Ask::user(script.asks("deploy"))
}

#[resolver]
pub fn form(script: Dep<Script>) -> Ask<Form> {
    Ask::user(script.asks("form"))
}

#[resolver]
pub fn sample(script: Dep<Script>) -> Ask<Sample> {
    Ask::sample(Sampling::new(script.asks("sample")).max_tokens(5))
}

#[resolver]
pub fn sample_tools(script: Dep<Script>) -> Ask<Sample> {
    let calc = json!([{ "name": "calc", "inputSchema": { "type": "object" } }]);
    Ask::sample(Sampling::new(script.asks("sample_tools")).max_tokens(5).with("tools", calc))
}

#[resolver]
pub fn roots(script: Dep<Script>) -> Ask<Roots> {
    script.ran("roots");
    Ask::roots()
}

#[resolver]
pub fn after_sample(#[resolve(sample)] _s: &Sample, script: Dep<Script>) -> Ask<Yes> {
    Ask::user(script.asks("after_sample"))
}

#[resolver]
pub fn boom(script: Dep<Script>) -> Result<u32, CallError> {
    script.ran("boom");
    Err(io::Error::other("secret").into())
}

#[resolver]
pub fn boom_tool(script: Dep<Script>) -> Result<u32, CallError> {
    script.ran("boom_tool");
    Err(CallError::new("told you"))
}

#[resolver]
pub fn boom_mcp(script: Dep<Script>) -> Result<u32, CallError> {
    script.ran("boom_mcp");
    Err(CallError::protocol(-32099, "proto", Some(json!({ "k": 1 }))))
}

/// A resolver of the same name as another.
pub mod a {
    use super::*;

    #[resolver]
    pub fn ask(script: Dep<Script>) -> Ask<User> {
        Ask::user(script.asks("askA"))
    }
}

/// A resolver of the same name as another.
pub mod b {
    use super::*;

    #[resolver]
    pub fn ask(script: Dep<Script>) -> Ask<User> {
        Ask::user(script.asks("askB"))
    }
}

#[resolver]
pub fn volatile(script: Dep<Script>) -> Ask<Yes> {
    Ask::user(script.asks_differently("volatile"))
}

#[resolver]
pub fn anon(#[resolve(who)] u: Outcome<User>, script: Dep<Script>) -> Ask<Yes> {
    script.ran("anon");
    Ask::user(format!("{}: proceed?", action(&u)))
}

#[resolver]
pub fn one() -> u32 {
    1
}
