//! The valid counterparts of `fail/function`.

// What a strict user's crate forbids must not come out of the macros.
#![deny(warnings, missing_docs, unreachable_pub, missing_debug_implementations, unused_qualifications)]
#![forbid(unsafe_code)]

use rejoinder::prelude::*;

mod shouting {
    use rejoinder::prelude::*;

    /// Shouts.
    #[tool]
    pub(crate) async fn shout(word: String, ctx: Context) -> String {
        ctx.info("shouting").await;
        word.to_uppercase()
    }

    pub(crate) mod deeper {
        use super::*;

        #[tool]
        pub(in crate::shouting) fn whisper(word: String) -> String {
            word.to_lowercase()
        }

        #[tool(name = "async")]
        pub(crate) fn r#async() {}
    }

    pub(crate) fn tools() -> Vec<rejoinder::Tool> {
        tools![shout, deeper::whisper, deeper::r#async]
    }
}

/// A deprecated tool is a tool.
#[deprecated]
#[tool]
fn old() -> &'static str {
    "old"
}

#[cfg(any())]
#[tool]
fn never(word: Nowhere) -> Nothing {}

#[tool]
#[cfg(any())]
fn never_either(word: Nowhere) -> Nothing {}

/// Out of another macro.
macro_rules! constant {
    ($name:ident, $parameter:ident, $type:ty) => {
        #[tool]
        fn $name($parameter: $type, other: $type) -> $type {
            $parameter + other
        }
    };
}

constant!(add, a, i64);

/// Names of the prelude, taken by the user.
mod shadowed {
    #![allow(dead_code, non_camel_case_types, missing_docs)]
    use rejoinder::tool;

    struct Vec;
    struct Option;
    struct Result;
    struct Box;
    struct Some;
    struct str;
    struct u8;
    mod std {}
    mod serde_json {}
    mod rejoinder_core {}

    #[tool]
    pub(crate) fn one(#[arg(default = 1)] a: i64) -> i64 {
        a
    }
}

#[tool]
const fn constant() -> i64 {
    1
}

#[tool]
extern "C" fn foreign() -> i64 {
    constant()
}

/// A condition that is always met.
#[tool]
#[allow(trivial_bounds)]
fn conditional(word: String) -> String
where
    String: Clone,
{
    word
}

fn main() {
    use shouting::shout;

    let mut all = shouting::tools();
    all.extend(tools![old, constant, foreign, conditional]);
    all.extend(tools![add, shadowed::one, shout]);
    assert_eq!(add(1, 2), 3);
}
