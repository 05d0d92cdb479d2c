//! The guide: one page for each subject, in an order to read them in.
//!
//! | page | what it is about |
//! |---|---|
//! | [asking] | A function asks the user: forms, rounds, steps, and what is guaranteed whatever the client does. |
//! | [tasks] | A call goes on after its request, and after the death of its process. |
//! | [dependencies] | A function gets services and values of the call as parameters, and they are torn down at its end. |
//! | [constraints] | A range, a length or a pattern limits an argument, and the schema shows it. |
//! | [pipes] | A function converts an argument before the tool gets it. |
//! | [errors] | A function reports an error, and what each error that a client or a log shows means. |
//! | [context] | A function reports progress and reads what the client says; what the server logs. |
//! | [testing] | A test calls the server in process, and answers its questions. |
//! | [headers] | A parameter comes from a header of the HTTP request. |
//! | [state] | A value belongs to one call, or to one session. |
//! | [background] | Work runs after the reply is sent. |
//! | [streams] | A tool sends each item of its result immediately. |
//! | [gates] | Each caller sees the tools that are meant for it. |
//! | [identity] | The server knows its caller: OAuth tokens, API keys, your own layer. |
//! | [middleware] | A function runs around every operation. |
//! | [lifecycle] | Functions run at the start and the stop, and calls have a timeout. |
//! | [flags] | A program has flags of its own beside those of every server. |
//! | [transports] | HTTP, stdio, WebSocket and HTTP+SSE compared. |
//! | [deployment] | A server runs behind a proxy, in several processes, with limits. |
//! | [rollouts] | Two builds of a server run at the same time. |
//! | [threat_model] | What an attacker tries, what prevents it, and what is left to you. |

/// Where the links of a page lead on docs.rs. They stand before the page, and the first definition of a link counts, so those
/// at the end of the page are for readers of the file.
macro_rules! links {
    () => {
        "\
[asking.md]: crate::guide::asking
[asking.md#the-messages]: crate::guide::asking#the-messages
[asking.md#what-runs-again]: crate::guide::asking#what-runs-again
[background.md]: crate::guide::background
[constraints.md]: crate::guide::constraints
[context.md]: crate::guide::context
[context.md#the-log-of-the-process]: crate::guide::context#the-log-of-the-process
[context.md#what-the-server-logs]: crate::guide::context#what-the-server-logs
[dependencies.md]: crate::guide::dependencies
[dependencies.md#transactions-and-steps]: crate::guide::dependencies#transactions-and-steps
[deployment.md]: crate::guide::deployment
[deployment.md#limits]: crate::guide::deployment#limits
[deployment.md#several-processes]: crate::guide::deployment#several-processes
[errors.md]: crate::guide::errors
[errors.md#http-statuses]: crate::guide::errors#http-statuses
[errors.md#log-lines]: crate::guide::errors#log-lines
[flags.md]: crate::guide::flags
[gates.md]: crate::guide::gates
[headers.md]: crate::guide::headers
[identity.md]: crate::guide::identity
[identity.md#what-belongs-to-a-caller]: crate::guide::identity#what-belongs-to-a-caller
[lifecycle.md]: crate::guide::lifecycle
[middleware.md]: crate::guide::middleware
[pipes.md]: crate::guide::pipes
[rollouts.md]: crate::guide::rollouts
[state.md]: crate::guide::state
[state.md#state-of-a-session]: crate::guide::state#state-of-a-session
[streams.md]: crate::guide::streams
[tasks.md]: crate::guide::tasks
[tasks.md#limits]: crate::guide::tasks#limits
[tasks.md#security]: crate::guide::tasks#security
[tasks.md#stopping]: crate::guide::tasks#stopping
[tasks.md#testing]: crate::guide::tasks#testing
[tasks.md#what-runs-again]: crate::guide::tasks#what-runs-again
[testing.md]: crate::guide::testing
[testing.md#check-the-wiring]: crate::guide::testing#check-the-wiring
[threat-model.md]: crate::guide::threat_model
[transports.md]: crate::guide::transports
[transports.md#websocket]: crate::guide::transports#websocket

"
    };
}

macro_rules! pages {
    ($($page:ident $file:literal)*) => {
        $(
            #[doc = links!()]
            #[doc = include_str!(concat!("../docs/", $file))]
            pub mod $page {}
        )*
    };
}

pages! {
    asking "asking.md"
    tasks "tasks.md"
    dependencies "dependencies.md"
    constraints "constraints.md"
    pipes "pipes.md"
    errors "errors.md"
    context "context.md"
    testing "testing.md"
    headers "headers.md"
    state "state.md"
    background "background.md"
    streams "streams.md"
    gates "gates.md"
    identity "identity.md"
    middleware "middleware.md"
    lifecycle "lifecycle.md"
    flags "flags.md"
    deployment "deployment.md"
    rollouts "rollouts.md"
    threat_model "threat-model.md"
}

#[doc = links!()]
#[cfg_attr(all(feature = "sse", feature = "ws"), doc = include_str!("../docs/transports.md"))]
#[cfg_attr(not(all(feature = "sse", feature = "ws")), doc = "This page needs the features `sse` and `ws`.")]
pub mod transports {}
