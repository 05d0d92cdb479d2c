//! The valid counterparts of `fail/parameter`.

use rejoinder::{prelude::*, call::CompletionRequest};

const WORD: &str = "word";

#[derive(Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
enum Size {
    #[default]
    Small,
    Large,
}

/// Parameters may have the names of the function and of anything else in the expansion.
#[tool]
fn sum(mut sum: i64, r#type: i64, #[arg(name = "a-b")] call: i64, __rj: i64, receiver: i64, self_: i64) -> i64 {
    sum += r#type + call + __rj + receiver + self_;
    sum
}

#[tool]
fn seventeen(
    a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, g: u8, h: u8, i: u8, j: u8, k: u8, l: u8, m: u8, n: u8, o: u8, p: u8,
    q: u8,
) -> u8 {
    a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p + q
}

#[tool]
fn defaults(
    #[arg(default = 1)] a: u64,
    #[arg(default = -1.5)] b: f64,
    #[arg(default = "x")] c: String,
    #[arg(default = WORD)] d: String,
    #[arg(default = Size::Small)] e: Size,
    #[arg(default = Vec::new())] f: Vec<String>,
    #[arg(default = Some(3), header = "G-1")] g: Option<u8>,
    #[arg(default = None)] h: Option<u8>,
    #[arg(default = Size::default())] i: Size,
    #[arg(default)] j: Size,
) -> String {
    let size = |size| match size {
        Size::Small => "small",
        Size::Large => "large",
    };
    format!("{a} {b} {c} {d} {} {f:?} {g:?} {h:?} {} {}", size(e), size(i), size(j))
}

struct Limits;

#[handlers]
impl Limits {
    const MOST: u32 = 10;

    #[tool]
    fn limited(
        #[arg(min = 1, max = Self::MOST, multiple_of = 2, default = 4, title = WORD)] a: u32,
        #[arg(exclusive_min = -1.0, exclusive_max = f32::MAX)] b: f32,
        #[arg(min_length = 1, max_length = 2 + 1, pattern = "^[a-z]+$", format = "date", example = WORD)] c: Option<String>,
        #[arg(min_items = 1, max_items = 2, unique_items, example = ["x"])] d: Vec<String>,
        #[arg(unique_items = false)] e: std::collections::BTreeSet<u8>,
    ) -> String {
        format!("{a} {b} {c:?} {d:?} {e:?}")
    }
}

#[completion]
async fn words(completing: CompletionRequest) -> Vec<String> {
    vec![completing.value]
}

#[prompt]
fn shout(#[arg(complete = words)] word: String, #[arg(complete = crate::words)] other: Option<String>) -> String {
    word.to_uppercase() + &other.unwrap_or_default()
}

/// Attributes that are not ours stay.
#[tool]
fn quiet(#[allow(unused)] a: i64) {}

fn main() {
    let _ = (tools![sum, seventeen, defaults, quiet], prompts![shout]);
    assert_eq!(sum(1, 2, 3, 4, 5, 6), 21);
}
