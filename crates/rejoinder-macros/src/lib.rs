//! The attribute macros of rejoinder. Use them through the `rejoinder` crate, whose documentation
//! of each comes before this one, with examples.
//!
//! Each macro keeps the function as it is and writes a hidden type of the same name beside it, in three phases:
//!
//! * parse: `signature`, `parameter`, `options`, `docs` and `details` read what the author wrote,
//! * check: the same files refuse what cannot work, and `errors` collects every mistake, to report all together,
//! * emit: `expand` writes the hidden type.
//!
//! `elicit` does all three for the forms' derive macros.

mod constraints;
mod details;
mod docs;
mod elicit;
mod errors;
mod expand;
mod kind;
mod names;
mod options;
mod parameter;
mod signature;

use kind::Kind;
use proc_macro::TokenStream;

/// # Options
///
/// * `name = ".."` (the function's name by default), `title = ".."`, `description = ".."` (its doc comment by default);
/// * `read_only`, `destructive`, `idempotent`, `open_world`, each also `= false`;
/// * `blocking`, for a function without `async` that blocks its thread or computes for long: other tasks of the
///   thread move to another one first (in a multi-threaded runtime, as `#[tokio::main]` starts it);
/// * `timeout = "30s"` (`ms`, `s`, `m` or `h`): how long a round of a call may take;
/// * `scopes = ["files:write"]`: what the caller must be allowed to do;
/// * `icon(src = "..", mime_type = "..", sizes = "..")`, as often as there are icons;
/// * `enabled = path`, a resolver of `bool` that decides whether the tool is there for a caller, or `enabled = [first, second]`,
///   which must all be open;
/// * `tags = [".."]`, for `Server::only_tagged`;
/// * `crate = "framework"`: the path to `rejoinder`, if it is a dependency under another name, or of another crate. Every
///   attribute has this option, also `#[elicit(crate = "..")]` on a form or a choice, and `tools![crate = "..", buy]`.
///
/// On a parameter:
///
/// * `#[arg(name = "..", default = .., header = "..")]`: the model's argument, though the server could supply it; its name
///   and default (`default` alone is that of its type), and the header `Mcp-Param-..` in which clients repeat it; and what it
///   must be: `min`, `max`, `exclusive_min`, `exclusive_max`, `multiple_of`, `min_length`, `max_length`, `pattern`, `format`,
///   `min_items`, `max_items`, `unique_items`; its `title`, and an `example`;
/// * `#[header("x-name", default = ..)]`: a header of the HTTP request, by the parameter's name if none is given;
/// * `#[pipe(first, second)]`, alone or beside `#[arg]` or `#[header]`: functions marked `#[pipe]` that the value passes through;
/// * `#[resolve(function)]`: what that resolver makes;
/// * `#[inject]`: what the server supplies, though the model could.
#[proc_macro_attribute]
pub fn tool(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::function(Kind::Tool, options.into(), &item.into()).into()
}

/// # Options
///
/// * `name = ".."` (the function's name by default), `title = ".."`, `description = ".."` (its doc comment by default);
/// * `timeout = "30s"` (`ms`, `s`, `m` or `h`): how long a round of a call may take;
/// * `scopes = ["files:write"]`: what the caller must be allowed to do;
/// * `icon(src = "..", mime_type = "..", sizes = "..")`, as often as there are icons;
/// * `enabled = path`, a resolver of `bool` that decides whether it is there for a caller.
///
/// On a parameter:
///
/// * `#[arg(name = "..", default = .., complete = path)]`, where `path` is a function marked `#[completion]` that proposes
///   values while the user types; and the constraints of `#[tool]`;
/// * `#[header("x-name", default = ..)]`: a header of the HTTP request, by the parameter's name if none is given;
/// * `#[pipe(first, second)]`, alone or beside `#[arg]` or `#[header]`: functions marked `#[pipe]` that the value passes through;
/// * `#[resolve(function)]`: what that resolver makes;
/// * `#[inject]`: what the server supplies, though the client could.
#[proc_macro_attribute]
pub fn prompt(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::function(Kind::Prompt, options.into(), &item.into()).into()
}

/// # Options
///
/// After the URI:
///
/// * `name = ".."` (the function's name by default), `title = ".."`, `description = ".."` (its doc comment by default),
///   `mime_type = ".."`;
/// * `ttl_ms = ..` and `public`: how long a client may keep the contents, and whether for everybody;
/// * `timeout = "30s"` (`ms`, `s`, `m` or `h`): how long a round of a call may take;
/// * `scopes = ["files:write"]`: what the caller must be allowed to do;
/// * `icon(src = "..", mime_type = "..", sizes = "..")`, as often as there are icons;
/// * `enabled = path`, a resolver of `bool` that decides whether it is there for a caller.
///
/// On a parameter: as for `#[prompt]`.
#[proc_macro_attribute]
pub fn resource(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::function(Kind::Resource, options.into(), &item.into()).into()
}

/// # Options
///
/// * `key = ".."`, under which it asks: its name by default, numbered (`confirm#1`) where two of one item share it;
/// * `cache = false`, to run again for each parameter that it fills.
///
/// On a parameter:
///
/// * nothing, for what the call supplies and for the arguments of the function that uses it: by their names, owned or borrowed
///   (`path: &str` for `path: String`, `&Path` for a `PathBuf`, `&[T]` for a `Vec<T>`, `&T` for a `T`);
/// * `#[arg(name = "..")]`, `#[header]`, `#[inject]`, `#[resolve(function)]`, as for `#[tool]`.
///
/// In a generic resolver, what depends on a type parameter is supplied by the call, unless it is marked `#[arg]`.
#[proc_macro_attribute]
pub fn resolver(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::function(Kind::Resolver, options.into(), &item.into()).into()
}

/// Its first parameter is the value. On each of the others:
///
/// * nothing, for what the call supplies, and for a `PipeContext`;
/// * `#[header]`, `#[inject]`, `#[resolve(function)]`, as for `#[tool]`. Such a resolver takes no arguments by name: pipes run
///   before the arguments are ready.
#[proc_macro_attribute]
pub fn pipe(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::function(Kind::Pipe, options.into(), &item.into()).into()
}

/// Its first parameter is a `CompletionRequest`; the others are as for `#[pipe]`, and no resolver may ask.
#[proc_macro_attribute]
pub fn completion(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::function(Kind::Completion, options.into(), &item.into()).into()
}

/// Takes the names of functions, each perhaps after `#[cfg(..)]`.
#[proc_macro]
pub fn tools(functions: TokenStream) -> TokenStream {
    expand::list(Kind::Tool, functions.into()).into()
}

/// Takes the names of functions, each perhaps after `#[cfg(..)]`.
#[proc_macro]
pub fn prompts(functions: TokenStream) -> TokenStream {
    expand::list(Kind::Prompt, functions.into()).into()
}

/// Takes the names of functions, each perhaps after `#[cfg(..)]`.
#[proc_macro]
pub fn resources(functions: TokenStream) -> TokenStream {
    expand::list(Kind::Resource, functions.into()).into()
}

/// The block gains `tools()`, `prompts()` and `resources()`, as far as it has any, which are called on an `Arc` of the
/// type. Its resolvers are `Self::name` within it; a test replaces one with `testing::Client::replace_method`.
///
/// # Options
///
/// `tools = more_tools`, `prompts = ..`, `resources = ..`: other names for these methods. A second block of the same type
/// needs them, because a type has one method of a name ("duplicate definitions with name `tools`"). `enabled = path`: a gate for everything in the block.
///
/// (It is not called `tools`, because the list `tools![..]` is: macros of both kinds share their names.)
#[proc_macro_attribute]
pub fn handlers(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::impl_block(options.into(), &item.into()).into()
}

/// # Options
///
/// A field is a `String`, an integer, `f32` or `f64`, a `bool`, an enum that derives `ElicitEnum` (one choice), a `Vec`
/// of such an enum (several), or an `Option` of one of these, which may be left out. Its doc comment is its description.
///
/// On a field, `#[elicit(..)]` with
///
/// * `title = ".."`, `description = ".."`, `name = ".."` (in the answer; by default the field's name, which
///   `#[serde(rename)]` and `#[serde(rename_all)]` change as they do for serde), `default = ..`;
/// * for texts `format = "email" | "uri" | "date" | "date-time"`, `pattern = ".."`, `min_length = ..`, `max_length = ..`;
/// * for numbers `min = ..`, `max = ..`; for a `Vec` `min_items = ..`, `max_items = ..`.
#[proc_macro_derive(Elicit, attributes(elicit, arg))]
pub fn elicit(item: TokenStream) -> TokenStream {
    elicit::form(item.into()).into()
}

/// # Options
///
/// On the enum, `#[elicit(..)]` with `rename_all = "snake_case"` (or another case that serde has) for the values in the
/// answer, which are the variants' names by default, or those of `#[serde(rename_all)]` and `#[serde(rename)]`; `legacy_names` for clients that know titles only as `enumNames`.
/// On a variant: `name = ".."`, `title = ".."`.
#[proc_macro_derive(ElicitEnum, attributes(elicit))]
pub fn elicit_enum(item: TokenStream) -> TokenStream {
    elicit::choice(item.into()).into()
}
