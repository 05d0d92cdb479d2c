//! The attribute macros of rejoinder. Use them through the `rejoinder` crate, whose documentation shows them at work.
//!
//! Each macro keeps the function as it is and writes a hidden type of the same name beside it. The way through:
//!
//! * `options`, `docs`, `types`, `template` read what the author wrote; `parameter` and `details` make sense of it;
//! * `expand` writes the hidden type;
//! * `elicit` does both for the forms' derive macros, which keep their types as they are;
//! * `errors` collects every mistake on the way, so that all are reported at once.

mod details;
mod docs;
mod elicit;
mod errors;
mod expand;
mod function;
mod kind;
mod names;
mod options;
mod parameter;
mod signature;
mod template;
mod types;

use kind::Kind;
use proc_macro::TokenStream;

/// Makes a function a tool, and keeps it a function.
///
/// Each parameter is the model's argument, described by its doc comment, unless its type implements `FromCall`.
///
/// Options: `name = ".."`, `title = ".."`, `description = ".."` (the function's doc comment by default),
/// `read_only`, `destructive`, `idempotent`, `open_world` (each also `= false`),
/// `icon(src = "..", mime_type = "..", sizes = "..")`.
///
/// On a parameter: `#[arg(name = "..", default = .., header = "..")]`; `#[arg]` or `#[inject]` where its type could be both.
#[proc_macro_attribute]
pub fn tool(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::function(Kind::Tool, options.into(), &item.into()).into()
}

/// Makes a function a prompt, and keeps it a function.
///
/// Options: `name = ".."`, `title = ".."`, `description = ".."`, `icon(..)`.
///
/// On a parameter: `#[arg(name = "..", default = .., complete = path)]`, where `path` is an
/// `async fn(Completing) -> Vec<String>`; `#[arg]` or `#[inject]` where its type could be both.
#[proc_macro_attribute]
pub fn prompt(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::function(Kind::Prompt, options.into(), &item.into()).into()
}

/// Makes a function a resource, or a template of many, and keeps it a function.
///
/// The URI comes first: `#[resource("files://{path}")]`. Each variable of it is a parameter.
/// Options: `name = ".."`, `title = ".."`, `description = ".."`, `mime_type = ".."`, `ttl_ms = ..`, `public`,
/// `icon(..)`. On a parameter: as for `#[prompt]`.
#[proc_macro_attribute]
pub fn resource(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::function(Kind::Resource, options.into(), &item.into()).into()
}

/// Makes a function a resolver, whose value fills parameters, and keeps it a function.
///
/// `#[resolve(confirm)]` on a parameter of a tool, prompt, resource or another resolver takes what `confirm` returns:
/// `T`, `Ask<T>`, or a `Result` of either. The parameter is a `T`, a `&T`, an `Option<T>` (`None` if the user declined)
/// or an `Outcome<T>`.
///
/// A resolver runs at most once in a round, and at the same time as the others. Its own parameters are
///
/// * the arguments of whatever it is used by, by name, owned or borrowed (`path: &str` for `path: String`);
/// * what other resolvers make, with `#[resolve(..)]`;
/// * what the call supplies, as everywhere.
///
/// Options: `key = ".."`, under which it asks (its name by default); `cache = false`, to run anew for each parameter.
#[proc_macro_attribute]
pub fn resolver(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::resolver(options.into(), &item.into()).into()
}

/// Lets the functions of an `impl` block be tools, prompts, resources and resolvers; the latter are `Self::name` there.
///
/// The block gains `tools()`, `prompts()` and `resources()`, as far as it has any, which are called on an `Arc` of the
/// type: `Arc::new(shop).tools()`.
///
/// (It is not called `tools`, because the list `tools![..]` is: macros of both kinds share their names.)
#[proc_macro_attribute]
pub fn group(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::impl_block(options.into(), &item.into()).into()
}

/// Makes a struct a form that the user can be asked to fill in.
///
/// A field is a `String`, an integer, `f32` or `f64`, a `bool`, an enum that derives `ElicitEnum` (one choice), a `Vec`
/// of such an enum (several), or an `Option` of one of these, which may be left out. Its doc comment is its description.
///
/// On a field, `#[elicit(..)]` with
///
/// * `title = ".."`, `description = ".."`, `name = ".."` (in the answer; the field's name by default), `default = ..`;
/// * for texts `format = "email" | "uri" | "date" | "date-time"`, `pattern = ".."`, `min_length = ..`, `max_length = ..`;
/// * for numbers `min = ..`, `max = ..`; for a `Vec` `min_items = ..`, `max_items = ..`.
#[proc_macro_derive(Elicit, attributes(elicit))]
pub fn elicit(item: TokenStream) -> TokenStream {
    elicit::form(item.into()).into()
}

/// Makes an enum without data a choice in a form.
///
/// On the enum, `#[elicit(..)]` with `rename_all = "snake_case"` (or another case that serde has) for the values in the
/// answer, which are the variants' names by default; `legacy_names` for clients that know titles only as `enumNames`.
/// On a variant: `name = ".."`, `title = ".."`.
#[proc_macro_derive(ElicitEnum, attributes(elicit))]
pub fn elicit_enum(item: TokenStream) -> TokenStream {
    elicit::choice(item.into()).into()
}
