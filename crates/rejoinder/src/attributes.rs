//! The attributes, derives and list macros. The options of each are documented where it is defined.

/// Turns a function into a tool. You can still call the function.
///
/// Its doc comment is the tool's description. Each parameter is an argument of the model, described by its own doc
/// comment, unless the server supplies its type ([`FromCall`](crate::FromCall)) or an attribute names another source.
///
/// ```
/// use rejoinder::{prelude::*, testing::Client};
/// use serde_json::json;
///
/// #[resolver]
/// fn price(item: &str) -> u32 {
///     item.len() as u32
/// }
///
/// /// Buy something.
/// #[tool(title = "Buy", open_world)]
/// async fn buy(
///     /// What to buy
///     item: String,
///     /// How many
///     #[arg(default = 1)] count: u32,
///     #[resolve(price)] price: u32,
///     ctx: Context,
/// ) -> String {
///     ctx.info("buying").await;
///     format!("{count} {item} for {}", count * price)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
/// let client = Client::new(Server::new("shop", "1.0.0").tools(tools![buy]));
/// assert_eq!(client.call_tool("buy", json!({ "item": "tea", "count": 2 })).await?.text(), "2 tea for 6");
/// assert_eq!(client.list_tools().await?[0].input_schema["required"], json!(["item"]));
/// # Ok(())
/// # }
/// ```
///
/// # Functions that block
///
/// A function that blocks its thread, or computes for a long time, delays other calls on that thread. `blocking` first
/// moves these calls to another thread. It needs the multi-threaded runtime that `#[tokio::main]` starts by default.
///
/// ```
/// use rejoinder::prelude::*;
///
/// /// Count the words of a file.
/// #[tool(blocking)]
/// fn count_words(path: String) -> Result<usize, CallError> {
///     let text = std::fs::read_to_string(&path).map_err(|error| CallError::new(format!("{path}: {error}")))?;
///     Ok(text.split_whitespace().count())
/// }
/// ```
///
/// # Gates
///
/// `enabled` names a gate: a [resolver](macro@crate::resolver) that returns `bool` or `Result<bool, E>`. It runs for
/// every list and every call, and shares the values of its own resolvers with the function. If it returns `false` or
/// fails, the tool is neither listed nor callable: the client gets the same error as for a name that does not exist. A
/// gate cannot ask and takes no arguments. Prompts, resources and [`#[handlers]`](macro@crate::handlers) blocks have
/// gates too; `enabled = [is_admin, is_paid]` names several, which must all be open; and [`Gated::enabled`](crate::server::Gated::enabled) adds one at run time.
///
/// ```
/// use rejoinder::{prelude::*, testing::Client};
///
/// #[resolver]
/// fn is_admin(#[header("x-role")] role: Option<String>) -> bool {
///     role.as_deref() == Some("admin")
/// }
///
/// #[tool(enabled = is_admin)]
/// async fn restart() {}
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
/// let client = Client::new(Server::new("plant", "1.0.0").tools(tools![restart]));
/// assert!(client.list_tools().await?.is_empty());
/// assert_eq!(client.header("x-role", "admin").list_tools().await?.len(), 1);
/// # Ok(())
/// # }
/// ```
///
/// # Constraints
///
/// The schema shows the constraints of `#[arg(..)]`, and of schemars attributes inside a type. The server enforces them
/// before anything runs. For a rule that JSON Schema cannot express, use your own type: the model reads the text of its
/// error. Beside `#[serde(try_from = "..")]`, write `#[schemars(!try_from)]`: otherwise the schema is that of the other type,
/// without the constraints in yours.
///
/// ```
/// use rejoinder::{prelude::*, testing::Client};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use serde_json::json;
///
/// #[derive(Deserialize, JsonSchema)]
/// #[serde(try_from = "u32")]
/// #[schemars(!try_from)]
/// struct Odd(#[schemars(range(min = 1))] u32);
///
/// impl TryFrom<u32> for Odd {
///     type Error = &'static str;
///
///     fn try_from(number: u32) -> Result<Self, Self::Error> {
///         if number % 2 == 1 { Ok(Self(number)) } else { Err("only odd shelves lend books") }
///     }
/// }
///
/// /// Lend a book.
/// #[tool]
/// fn lend(#[arg(min = 1, max = 30)] days: u8, shelf: Odd) -> String {
///     format!("{days} days from shelf {}", shelf.0)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
/// let client = Client::new(Server::new("library", "1.0.0").tools(tools![lend]));
/// let properties = &client.list_tools().await?[0].input_schema["properties"];
/// assert_eq!((&properties["days"]["maximum"], &properties["shelf"]["minimum"]), (&json!(30), &json!(1)));
/// let reply = client.call_tool("lend", json!({ "days": 99, "shelf": 2 })).await?;
/// assert_eq!(
///     reply.text(),
///     "Invalid arguments:\n- `days`: must be between 1 and 30, got 99\n- `shelf`: only odd shelves lend books",
/// );
/// # Ok(())
/// # }
/// ```
///
/// # The function's name
///
/// The macro adds a hidden type with the name of the function, and `tools![buy]` refers to that type. So no other type
/// or module in the same scope can have that name. If a crate has the name, such as `time`, then `time::..` means the
/// hidden type: write `::time::..`, or rename the function and set the tool's name with `name = ".."`. The same applies
/// to prompts, resources and resolvers.
///
/// ```
/// use rejoinder::prelude::*;
///
/// mod search {
///     pub fn find(word: &str) -> String {
///         word.to_uppercase()
///     }
/// }
///
/// #[tool(name = "search")]
/// fn search_words(word: String) -> String {
///     search::find(&word)
/// }
/// # assert_eq!(tools![search_words][0].name(), "search");
/// ```
pub use rejoinder_macros::tool;

/// Turns a function into a prompt. You can still call the function.
///
/// Clients send the arguments of prompts as strings. A parameter is a `String`, or a type that is parsed from one.
///
/// ```
/// use rejoinder::{prelude::*, testing::Client, call::CompletionRequest};
/// use serde_json::json;
///
/// #[completion]
/// async fn languages(completing: CompletionRequest) -> Vec<String> {
///     let known = ["Python", "Rust"].map(String::from);
///     known.into_iter().filter(|name| name.starts_with(&completing.value)).collect()
/// }
///
/// /// Review some code.
/// #[prompt]
/// fn review(code: String, #[arg(complete = languages)] language: Option<String>) -> String {
///     format!("Review this {}:\n{code}", language.as_deref().unwrap_or("code"))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
/// let client = Client::new(Server::new("reviews", "1.0.0").prompts(prompts![review]));
/// let prompt = client.get_prompt("review", json!({ "code": "1 + 1", "language": "Rust" })).await?;
/// assert_eq!(prompt.text(), "Review this Rust:\n1 + 1");
/// # Ok(())
/// # }
/// ```
pub use rejoinder_macros::prompt;

/// Turns a function into a completion, which proposes values for an argument while the user types. You can still call
/// the function.
///
/// `#[arg(complete = languages)]` names it, before a parameter of a prompt or of a resource template. Its first
/// parameter is a [`CompletionRequest`](crate::call::CompletionRequest). The other parameters are filled like those of
/// a [`pipe`](macro@pipe): services, headers, the values of resolvers that do not ask.
///
/// ```
/// use rejoinder::{call::CompletionRequest, model::Reference, prelude::*, testing::Client};
///
/// struct Languages(Vec<&'static str>);
///
/// #[completion]
/// async fn languages(typed: CompletionRequest, known: Dep<Languages>) -> Vec<String> {
///     known.0.iter().filter(|name| name.starts_with(&typed.value)).map(ToString::to_string).collect()
/// }
///
/// /// Review some code.
/// #[prompt]
/// fn review(#[arg(complete = languages)] language: String) -> String {
///     format!("Review this {language}.")
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
/// let server = Server::new("reviews", "1.0.0").provide(Languages(vec!["Python", "Rust"])).prompts(prompts![review]);
/// let completion = Client::new(server).complete(Reference::prompt("review"), "language", "R").await?;
/// assert_eq!(completion.values, ["Rust"]);
/// # Ok(())
/// # }
/// ```
pub use rejoinder_macros::completion;

/// Turns a function into a pipe, which converts the value of a parameter. You can still call the function.
///
/// `#[pipe(trim, find_user)]` before a parameter of a tool, prompt or resource names the pipes that its argument, or
/// its `#[header]`, passes through. The schema shows the type that the first pipe takes. The parameter has the type
/// that the last pipe returns.
///
/// ```
/// use rejoinder::{prelude::*, testing::Client};
/// use serde_json::json;
///
/// struct Users(Vec<&'static str>);
///
/// struct User(String);
///
/// #[pipe]
/// fn trim(text: String) -> String {
///     text.trim().to_owned()
/// }
///
/// #[pipe]
/// async fn find_user(name: String, users: Dep<Users>) -> Result<User, FieldError> {
///     if users.0.contains(&&*name) { Ok(User(name)) } else { Err(FieldError::new(format!("there is no user `{name}`"))) }
/// }
///
/// /// Greet a user.
/// #[tool]
/// async fn greet(#[pipe(trim, find_user)] user: User) -> String {
///     format!("Hello, {}!", user.0)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
/// let client = Client::new(Server::new("greeter", "1.0.0").provide(Users(vec!["ada"])).tools(tools![greet]));
/// assert_eq!(client.list_tools().await?[0].input_schema["properties"]["user"]["type"], "string");
/// assert_eq!(client.call_tool("greet", json!({ "user": " ada " })).await?.text(), "Hello, ada!");
/// let reply = client.call_tool("greet", json!({ "user": "eve" })).await?;
/// assert_eq!(reply.text(), "Invalid argument `user`: there is no user `eve`.");
/// # Ok(())
/// # }
/// ```
///
/// Its first parameter is the value. The other parameters are filled like those of a resolver: services, headers, a
/// [`PipeContext`](crate::inject::PipeContext), the values of resolvers. It returns a value, or a `Result` with a
/// [`FieldError`](crate::call::FieldError).
pub use rejoinder_macros::pipe;

/// Turns a function into a resource or a resource template. You can still call the function.
///
/// The URI comes first. Each of its variables is a parameter of the same name:
///
/// * `{x}` is one segment, also after decoding: a URI that hides `/`, `\` or `..` in the segment does not match;
/// * `{x*}` is several such segments, with the slashes between them;
/// * `{+x}` is any text. It may contain `..` or begin with `/`: check it before you use it as a file path;
/// * `{?x,y}` are values of the query, which may be left out. `{&x,y}` are more values after a query has begun, as in
///   `db://rows?kind=a{&page}`. They can be any text, too.
///
/// ```
/// use rejoinder::{prelude::*, testing::Client};
///
/// /// A file.
/// #[resource("files://{path}{?lines}", mime_type = "text/plain")]
/// async fn file(path: String, lines: Option<usize>) -> Result<String, CallError> {
///     match path.as_str() {
///         "poem" => Ok("roses\nviolets".lines().take(lines.unwrap_or(9)).collect()),
///         _ => Err(CallError::new("there is no such file")),
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
/// let client = Client::new(Server::new("files", "1.0.0").resources(resources![file]));
/// assert_eq!(client.read_resource("files://poem?lines=1").await?.text(), "roses");
/// # Ok(())
/// # }
/// ```
pub use rejoinder_macros::resource;

/// Turns a function into a resolver, whose value fills parameters. You can still call the function.
///
/// `#[resolve(confirm)]` on a parameter of a tool, prompt, resource or another resolver takes the value of `confirm`.
/// The function returns a `T`, an [`Ask<T>`](crate::Ask), or a `Result` of either. The parameter is a `&T` (`&str` for
/// a `String`, `&[U]` for a `Vec<U>`, `&Path` for a `PathBuf`), or a `T` if it is `Clone`. It can also be an `Option`
/// (`None` if the user declined) or [`Outcome`](crate::Outcome) of `T` or `&T`.
///
/// It runs at most once in a round, even if it fails, and concurrently with independent resolvers. All parameters that
/// take its value share it, so `T` is `Send`, `Sync` and `'static`.
///
/// The macro adds a hidden type with its name, as for a [tool](macro@tool#the-functions-name). If a glob import
/// brings something of that name, write `#[resolve(self::name)]`. If a module has it, rename the function, and keep the
/// name that clients see with `key = ".."`.
///
/// ```
/// use rejoinder::{prelude::*, testing::Client};
/// use serde_json::json;
///
/// struct Users(&'static [&'static str]);
///
/// /// By name: `user` is the tool's argument. A service is injected, as everywhere.
/// #[resolver]
/// fn number(user: &str, users: Dep<Users>) -> Result<usize, CallError> {
///     let number = users.0.iter().position(|name| *name == user);
///     number.ok_or_else(|| CallError::new(format!("there is no {user}")))
/// }
///
/// /// Takes what another one makes, and asks.
/// #[resolver(key = "sure")]
/// fn confirm(#[resolve(number)] number: usize) -> Ask<bool> {
///     if number > 0 { Ask::known(true) } else { Ask::confirm("Remove the first of all?") }
/// }
///
/// #[tool]
/// async fn remove(user: String, #[resolve(confirm)] sure: bool, #[resolve(number)] number: &usize) -> String {
///     if sure { format!("{user}, number {number}, is gone") } else { "nobody was removed".to_owned() }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
/// let client = Client::new(Server::new("users", "1.0.0").provide(Users(&["ada", "bob"])).tools(tools![remove]));
/// assert_eq!(client.call_tool("remove", json!({ "user": "bob" })).await?.text(), "bob, number 1, is gone");
/// assert_eq!(client.call_tool("remove", json!({ "user": "eve" })).await?.text(), "there is no eve");
/// # Ok(())
/// # }
/// ```
///
/// A resolver may be generic: `#[resolve(load::<User>)]`. It works for types with which its value is `Send` and `Sync`.
///
/// ```
/// use rejoinder::prelude::*;
///
/// #[resolver]
/// fn parsed<T: std::str::FromStr>(text: &str) -> Option<T> {
///     text.parse().ok()
/// }
///
/// #[tool]
/// fn kind(text: String, #[resolve(parsed::<u8>)] byte: Option<u8>, #[resolve(parsed::<f64>)] real: Option<f64>) -> String {
///     format!("{text} {byte:?} {real:?}")
/// }
/// # assert!(Server::new("s", "1").tools(tools![kind]).check().is_ok());
/// ```
pub use rejoinder_macros::resolver;

/// Turns the methods of a type into tools, prompts, resources and resolvers.
///
/// Within the block, `Self::name` names a resolver of the type; it cannot be used outside. A type may have several such
/// blocks, if each names its methods: `#[handlers(tools = more_tools)]`.
///
/// ```
/// use std::sync::Arc;
///
/// use rejoinder::{prelude::*, testing::Client};
/// use serde_json::json;
///
/// struct Shop {
///     prices: Vec<(&'static str, u32)>,
/// }
///
/// #[handlers]
/// impl Shop {
///     #[resolver]
///     fn price(&self, item: &str) -> Result<u32, CallError> {
///         let price = self.prices.iter().find(|(name, _)| *name == item);
///         price.map(|(_, price)| *price).ok_or_else(|| CallError::new(format!("we have no {item}")))
///     }
///
///     /// Buy something.
///     #[tool]
///     async fn buy(&self, item: String, #[resolve(Self::price)] price: u32) -> String {
///         format!("{item} for {price}")
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
/// let shop = Arc::new(Shop { prices: vec![("tea", 3)] });
/// let client = Client::new(Server::new("shop", "1.0.0").tools(shop.tools()));
/// assert_eq!(client.call_tool("buy", json!({ "item": "tea" })).await?.text(), "tea for 3");
/// # Ok(())
/// # }
/// ```
pub use rejoinder_macros::handlers;

/// Turns a struct into a form that the user can be asked to fill in.
///
/// ```
/// use rejoinder::prelude::*;
/// use serde_json::json;
///
/// #[derive(ElicitEnum, Debug, PartialEq)]
/// #[elicit(rename_all = "lowercase")]
/// enum Size {
///     Small,
///     #[elicit(title = "Large (one litre)")]
///     Large,
/// }
///
/// #[derive(Elicit, Debug, PartialEq)]
/// struct Order {
///     /// Where to send the bill
///     #[elicit(format = "email")]
///     email: String,
///     #[elicit(title = "Cups", min = 1, max = 9, default = 1)]
///     count: u8,
///     size: Size,
///     note: Option<String>,
/// }
///
/// # use rejoinder::Elicit as _;
/// let answer = json!({ "email": "ada@example.com", "size": "large" });
/// let order = Order::read(answer.as_object().expect("it is one"))?;
/// assert_eq!(order, Order { email: "ada@example.com".into(), count: 1, size: Size::Large, note: None });
///
/// let answer = json!({ "email": "ada", "count": 12, "size": "large" });
/// assert_eq!(
///     Order::read(answer.as_object().expect("it is one")).unwrap_err().to_string(),
///     "`email` must be an email address; `count` must be between 1 and 9",
/// );
/// # Ok::<(), rejoinder::form::FormErrors>(())
/// ```
pub use rejoinder_macros::Elicit;

/// Turns an enum without data into a choice in a form. A `Vec` of it is a multiple choice.
///
/// The user reads the doc comment of a variant, or its `title` if the doc comment is for programmers.
///
/// ```
/// use rejoinder::{ElicitEnum, prelude::*};
///
/// #[derive(ElicitEnum, Debug, PartialEq)]
/// #[elicit(rename_all = "kebab-case")]
/// enum Topping {
///     Cheese,
///     /// Olives, black
///     BlackOlives,
///     /// Made by `oven::peel`.
///     #[elicit(title = "Tomatoes, peeled")]
///     Tomatoes,
/// }
///
/// assert_eq!(
///     Topping::CHOICES,
///     [("cheese", None), ("black-olives", Some("Olives, black")), ("tomatoes", Some("Tomatoes, peeled"))],
/// );
///
/// #[derive(Elicit)]
/// struct Pizza {
///     #[elicit(max_items = 3)]
///     toppings: Vec<Topping>,
/// }
///
/// assert_eq!(Topping::from_value("black-olives"), Some(Topping::BlackOlives));
/// ```
pub use rejoinder_macros::ElicitEnum;

/// Creates a list of tools from functions marked `#[tool]`.
///
/// ```
/// use rejoinder::prelude::*;
///
/// mod numbers {
///     use rejoinder::prelude::*;
///
///     #[tool]
///     pub fn add(a: i64, b: i64) -> i64 {
///         a + b
///     }
/// }
///
/// let names: Vec<_> = tools![numbers::add].iter().map(|tool| tool.name().to_owned()).collect();
/// assert_eq!(names, ["add"]);
/// ```
pub use rejoinder_macros::tools;

/// Creates a list of prompts from functions marked `#[prompt]`.
///
/// ```
/// use rejoinder::prelude::*;
///
/// #[prompt]
/// fn review(code: String) -> String {
///     format!("Review this:\n{code}")
/// }
///
/// assert_eq!(prompts![review][0].name(), "review");
/// ```
pub use rejoinder_macros::prompts;

/// Creates a list of resources from functions marked `#[resource("..")]`.
///
/// ```
/// use rejoinder::prelude::*;
///
/// #[resource("text://readme")]
/// fn readme() -> &'static str {
///     "Read me."
/// }
///
/// assert_eq!(resources![readme][0].uri(), "text://readme");
/// ```
pub use rejoinder_macros::resources;
