//! The valid counterparts of `fail/pipe`.

#![deny(warnings)]

use std::borrow::Cow;

use rejoinder::{prelude::*, testing::Client};
use serde_json::json;

#[pipe]
fn number(text: String) -> Result<u8, String> {
    text.parse().map_err(|_| format!("`{text}` is not a number"))
}

#[pipe]
fn even(number: u8) -> Result<u8, &'static str> {
    if number % 2 == 0 { Ok(number) } else { Err("odd") }
}

#[pipe]
fn small(number: u8) -> Result<u8, Cow<'static, str>> {
    if number < 100 { Ok(number) } else { Err("large".into()) }
}

#[tool]
fn half(#[pipe(number, even, small)] of: u8) -> u8 {
    of / 2
}

fn main() {
    let client = Client::new(Server::new("numbers", "1").tools(tools![half]));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        for (of, text) in [
            ("4", "2"),
            ("x", "Invalid argument `of`: `x` is not a number."),
            ("3", "Invalid argument `of`: odd."),
            ("200", "Invalid argument `of`: large."),
        ] {
            assert_eq!(client.call_tool("half", json!({ "of": of })).await.expect("a reply").text(), text);
        }
    });
}
