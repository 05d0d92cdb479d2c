//! A framework for MCP servers in which **a tool's parameters say where they come from**, and a parameter may come from
//! *asking the user*.
//!
//! You write functions. The framework fills their parameters from the model's arguments, shared services, the call
//! itself and other functions, and serves them to clients of every protocol version, over HTTP, stdio and WebSocket.
//!
//! ```no_run
//! use rejoinder::prelude::*;
//!
//! struct Greetings(&'static str);
//!
//! /// Greet somebody.
//! #[tool(read_only)]
//! async fn greet(
//!     /// Whom to greet
//!     name: String,
//!     /// How often
//!     #[arg(default = 1)] times: u8,
//!     greetings: Dep<Greetings>, // provided once, below; the model does not see it
//! ) -> Result<String, CallError> {
//!     if name.is_empty() {
//!         return Err(CallError::new("say whom to greet, such as `Ada`"));
//!     }
//!     Ok(format!("{}, {name}!\n", greetings.0).repeat(times.into()))
//! }
//!
//! #[tokio::main]
//! async fn main() -> rejoinder::Result<()> {
//!     let server = Server::new("greeter", "1.0.0").provide(Greetings("Hello")).tools(tools![greet]);
//!     server.serve_from_args().await // --stdio (the default), --http ADDR, --help
//! }
//! ```
//!
//! Prompts ([`macro@prompt`]) and resources ([`macro@resource`]) are functions too and take the same parameters.
//! [`macro@handlers`] does the same for the methods of a type. You can still call a marked function, for example in a
//! unit test.
//!
//! # Where a parameter comes from
//!
//! | you write | it comes from |
//! |---|---|
//! | `path: String`, any type that implements `Deserialize` and `JsonSchema` | the model's arguments: listed in the schema, checked, described by the doc comment |
//! | `#[arg(default = 5)] n: u32`, `n: Option<u32>` | the same; the model may leave it out |
//! | `#[pipe(trim, find_user)] user: User` | the same, converted by functions marked [`#[pipe]`](macro@pipe) |
//! | `#[header("x-request-id")] request: String`, or an `Option` or `Vec`, or with `default = ..` | a header of the HTTP request |
//! | `#[resolve(confirm)] confirm: &Confirm`, or `T`, or an `Option` or `Outcome` of either | the function `confirm`, marked [`#[resolver]`](macro@resolver) |
//! | `database: `[`Dep`]`<Database>` | [`Server::provide`] |
//! | `ctx: `[`Context`] | the call: progress, logs, the client, questions |
//! | `scope: `[`Scope`] | the call: cleanup that runs when it ends |
//! | `audit: `[`State`]`<AuditTrail>` | a new value for each call, shared by all its functions |
//! | `login: `[`SessionState`]`<Login>` | a value of the session, dropped with it |
//! | `background: `[`BackgroundTasks`] | the call: work that runs after the reply is sent |
//! | `rounds: `[`Rounds`], with `-> `[`Reply`]`<T>` | the answers of this round, for functions that control their rounds by hand |
//! | `caller: `[`Principal`](auth::Principal), or an `Option` of it | the caller |
//! | `server: `[`ServerHandle`] | the running server: add and remove tools, prompts, resources |
//! | your own type | your implementation of [`FromCall`] |
//!
//! If a type could come from both the model and the server, write `#[arg]` or `#[inject]` before the parameter.
//!
//! # Resolvers and questions
//!
//! A resolver is a function whose value fills parameters. It takes the tool's arguments by name, the values of other
//! resolvers and all of the above. It runs at most once in a round, concurrently with independent resolvers, and may
//! ask the user.
//!
//! ```
//! use rejoinder::{prelude::*, testing::Client};
//! use serde_json::json;
//!
//! /// A form. Flat by construction: a nested struct here does not compile.
//! #[derive(Elicit)]
//! struct Confirm {
//!     /// Delete it and everything in it?
//!     yes: bool,
//! }
//!
//! /// `path` is the tool's argument of that name.
//! #[resolver]
//! fn confirm(path: &str) -> Ask<Confirm> {
//!     if path.ends_with(".tmp") {
//!         return Ask::known(Confirm { yes: true }); // nobody is asked
//!     }
//!     Ask::user(format!("{path} is not empty."))
//! }
//!
//! /// Delete a folder.
//! #[tool(destructive)]
//! async fn delete_folder(path: String, #[resolve(confirm)] confirm: &Confirm) -> String {
//!     if confirm.yes { format!("{path} is gone") } else { format!("{path} stays") }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), rejoinder::testing::ClientError> {
//! let server = Server::new("files", "1.0.0").tools(tools![delete_folder]);
//! let client = Client::new(server).answer("confirm", Confirm { yes: true });
//! let reply = client.call_tool("delete_folder", json!({ "path": "/home" })).await?;
//! assert_eq!(reply.text(), "/home is gone");
//! assert_eq!(reply.asked, [["confirm"]]);
//! # Ok(())
//! # }
//! ```
//!
//! If the user declines, the call ends before the function runs; a parameter of type `Option<Confirm>` or
//! [`Outcome`]`<Confirm>` receives the decline instead. The compiler checks the graph of resolvers: a cycle, an argument that
//! the tool does not have, or a type that does not match is an error at the parameter. [`Server::graph`] prints the graph.
//!
//! The body of a function can ask too, with [`Context::ask`]. [`Context::once`] runs a step that must not run twice.
//! [`Ask`] lists what a function can ask for: a form, yes or no, a text, a choice, a page to visit, the client's model,
//! its roots.
//!
//! The same function serves clients of both eras. A client before 2026-07-28 has a session, and the function waits for
//! the answer. A newer client gets the question in the reply and retries the request with the answer: **any replica can
//! serve that retry, and the server stores nothing.** The state that the client carries in between is sealed
//! ([`state`]).
//!
//! A tool that is marked `#[tool(task)]` goes on after its request, and after its process if a store on disk keeps it: see
//! [tasks](guide::tasks).
//!
//! # What a function returns
//!
//! Text, numbers, [`Json`] (structured, with a schema), [`Image`](reply::Image), [`Audio`](reply::Audio), content blocks and
//! lists of them, `()`, a [`ToolStream`] that sends each item immediately, or a `Result` of any of these. The model sees the
//! text of [`CallError::new`]; any other error is logged, and the client gets an id ([errors](guide::errors)).
//!
//! # Testing
//!
//! [`testing::Client`] calls a server in process, in either era. It answers questions, shows which questions were asked
//! and which resolvers ran, and replaces services and resolvers. [`Server::check`] lists every configuration mistake of
//! a server: call it in a test. The guide to [testing](guide::testing) has more.
//!
//! # Serving
//!
//! [`Server::serve_from_args`] reads the transport from the command line. [`Server::serve_http`] and
//! [`Server::serve_stdio`] choose it in code, and [`BuiltServer::into_service`] mounts a server in your own
//! application. [`http::Config`] configures how clients reach a server over HTTP, and [`state::StatePolicy`] how state
//! is sealed.
//!
//! # More
//!
//! [`guide`] has a page for each subject.
//!
//! # Cargo features
//!
//! On by default:
//!
//! * `cli`: [`Server::serve_from_args`], [`ServeArgs`] for flags of your own, and [`log_to_stderr`]. It enables the next two.
//! * `http`: Streamable HTTP.
//! * `stdio`: standard input and output, and any other pair of byte streams.
//!
//! Off by default:
//!
//! * `testing`: the test client ([`testing`]), which calls the HTTP service in process. Turn it on in `[dev-dependencies]` only,
//!   so that servers carry nothing of tests.
//! * `ws` (WebSocket) and `sse` (HTTP+SSE of 2024-11-05), beside Streamable HTTP.
//! * `auth`: bearer tokens and API keys of callers ([`auth`]).
//! * `chrono` and `uuid`: their types in arguments and forms.
//!
//! A program that needs only stdio: `rejoinder = { version = "..", default-features = false, features = ["stdio"] }`,
//! and `testing` in its `[dev-dependencies]` for the test client.

#![cfg_attr(
    not(feature = "testing"),
    expect(
        dead_code,
        unused_imports,
        reason = "a `cfg` on each function that only HTTP and the test client call is harder to read"
    )
)]

// So that the macros' paths work in this crate's own tests too.
extern crate self as rejoinder;

/// Methods that a type does not have, so that the compiler says what to call. The lifetime keeps it from refusing the bound
/// here, and the type of the result from reporting what the author does with it.
macro_rules! instead {
    ($missing:ident for $type:ident $(<$of:ident>)?, $message:literal, $label:literal: $($method:ident)*) => {
        #[doc(hidden)]
        #[diagnostic::on_unimplemented(message = $message, label = $label)]
        pub trait $missing<'a> {
            type Value;

            fn value(&'a self) -> Self::Value;
        }

        impl$(<$of>)? $type$(<$of>)? { $(
            #[doc(hidden)]
            pub fn $method<'a>(&'a self) -> <Self as $missing<'a>>::Value
            where
                Self: $missing<'a>,
            {
                self.value()
            }
        )* }
    };
}

mod argument;
pub mod ask;
mod attributes;
pub mod auth;
pub mod call;
mod error;
pub mod form;
mod graph;
// Only rustdoc reads it.
#[cfg(doc)]
pub mod guide;
pub mod http;
pub mod inject;
mod item;
pub mod prelude;
mod protocol;
pub mod reply;
mod request;
mod rounds;
mod schema;
pub mod server;
pub mod tasks;
#[cfg(feature = "testing")]
pub mod testing;
mod transport;

#[doc(hidden)]
pub mod __private;

pub use ask::{Ask, Outcome};
pub use attributes::{
    Elicit, ElicitEnum, completion, handlers, pipe, prompt, prompts, resolver, resource, resources, tool, tools,
};
pub use call::Call;
pub use error::{BoxError, CallError};
pub use form::{Elicit, ElicitEnum};
pub use futures_util::future::BoxFuture;
pub use graph::Resolver;
pub use inject::{BackgroundTasks, Context, Dep, FromCall, Rounds, Scope, SessionState, State};
pub use item::{Prompt, Resource, Tool};
/// This is the crate `rejoinder-wire`: where an example below says `rejoinder_wire`, write `rejoinder::model`.
#[doc(inline)]
pub use rejoinder_wire as model;
pub use reply::{Json, Reply, ToolStream};
pub use server::{BuiltServer, Server, ServerHandle, middleware};
pub use transport::{Error, Result};
#[cfg(feature = "cli")]
pub use transport::{ServeArgs, log_to_stderr};

/// How the state of a call is sealed while it waits for an answer.
pub mod state {
    pub use crate::rounds::seal::{MemoryReplayStore, ReplayStore, StateKeys, StateKeysError, StatePolicy};
}

/// The programs of the README compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
