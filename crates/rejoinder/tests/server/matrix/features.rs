//! The rows: what must hold however the client reaches the server.

use std::sync::{Arc, atomic::Ordering};

use rejoinder::{
    call::BackgroundStatus,
    form::ConfirmForm,
    middleware::{Next, OperationRequest},
    model::Reference,
    testing::{Background, Client},
};
use serde_json::json;

use crate::matrix::{
    offered::{self, Gate, Log, Runs},
    ways::Way,
};

crate::matrix::table_of! {
    /// A feature.
    Feature {
        Constraint => "constraints, and what breaks them",
        Pipe => "pipes, and what they refuse",
        Dependency => "dependencies with teardown",
        Cancellation => "cancellation, with teardown",
        Header => "headers",
        MissingHeader => "the error for a missing header",
        State => "state of a call",
        Background => "background tasks after the reply",
        Stream => "streams, item by item",
        Timeout => "timeouts",
        Middleware => "middleware",
        Lifecycle => "start and stop",
        Completion => "completion with services and resolvers",
        Question => "questions to the user",
    }
}

/// What the table says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cell {
    Works,
    /// A pipe has no headers, and the feature says so.
    NoHeaders,
    Fails,
}

impl Cell {
    pub(crate) fn shown(self) -> &'static str {
        match self {
            Self::Works => "✓",
            Self::NoHeaders => "–",
            Self::Fails => "FAILS",
        }
    }
}

crate::matrix::table_of! {
    /// What a function is offered as.
    Kind {
        Tool => "tool",
        Prompt => "prompt",
        Resource => "resource",
    }
}

/// A result, as far as the rows need it.
struct Called {
    text: String,
    background: Background,
}

/// One feature, offered as one kind.
struct Offered<'a> {
    client: &'a Client,
    kind: Kind,
    /// The name of the tool and of the prompt, and the scheme of the resource.
    name: &'a str,
}

impl Offered<'_> {
    /// Calls it; an error has the text that the client gets.
    async fn call(&self, value: &str) -> Result<Called, String> {
        let (client, name) = (self.client, self.name);
        let arguments = json!({ "value": value });
        match self.kind {
            Kind::Tool => match client.call_tool(name, arguments).await {
                Ok(reply) if reply.is_error() => Err(reply.text()),
                Ok(reply) => Ok(Called { text: reply.text(), background: reply.background }),
                Err(error) => Err(error.to_string()),
            },
            Kind::Prompt => {
                let reply = client.get_prompt(name, arguments).await.map_err(|error| error.to_string())?;
                Ok(Called { text: reply.text(), background: reply.background })
            }
            Kind::Resource => {
                let uri = format!("{}://{}", name.replace('_', "-"), value.replace(' ', "%20"));
                let reply = client.read_resource(&uri).await.map_err(|error| error.to_string())?;
                Ok(Called { text: reply.text(), background: reply.background })
            }
        }
    }

    async fn text(&self, value: &str) -> String {
        self.call(value).await.map_or_else(|error| panic!("{self}: {error}"), |called| called.text)
    }

    async fn error(&self, value: &str) -> String {
        self.call(value).await.map_or_else(|error| error, |called| panic!("{self} does not fail: {}", called.text))
    }

    async fn fails_with(&self, value: &str, expected: &[&str]) {
        let error = self.error(value).await;
        assert!(expected.iter().all(|part| error.contains(part)), "{self}: {error}");
    }
}

impl std::fmt::Display for Offered<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the {} `{}`", self.kind.shown(), self.name)
    }
}

impl Feature {
    /// Checks the feature on a server of its own.
    pub(crate) async fn check(self, way: Way, has_middleware: bool) -> Cell {
        let (log, gate, runs) = (Arc::<Log>::default(), Arc::<Gate>::default(), Arc::<Runs>::default());
        let mut server = offered::server(&log, &gate, &runs);
        if has_middleware {
            server = server.middleware(|request: OperationRequest, next: Next| next.run(request));
        }
        if self == Self::Middleware {
            server = server.middleware(offered::tenant);
        }
        let client = way.client(server);
        let client = match self {
            Self::Header => client.header("x-user", "7"),
            Self::Question => client.answer("sure", ConfirmForm { yes: true }),
            _ => client,
        };
        match self {
            Self::Stream => return stream(&client).await,
            Self::Completion => return completion(&client).await,
            _ => {}
        }
        let mut cell = Cell::Works;
        for kind in Kind::ALL {
            let offered = |name| Offered { client: &client, kind: *kind, name };
            cell = match self {
                Self::Constraint => constraint(offered("constraint")).await,
                Self::Pipe => pipe(offered("pipe")).await,
                Self::Dependency => dependency(offered("dependency"), &log).await,
                Self::Cancellation => cancellation(offered("dependency"), &log).await,
                Self::Header => header(offered("header"), way).await,
                Self::MissingHeader => missing_header(offered("required_header"), way).await,
                Self::State => state(offered("state")).await,
                Self::Background => background(offered("background"), &gate).await,
                Self::Timeout => timeout(offered("timeout"), &log).await,
                Self::Middleware => middleware(offered("middleware")).await,
                Self::Question => question(offered("question"), &client).await,
                Self::Lifecycle => lifecycle(offered("lifecycle")).await,
                Self::Stream | Self::Completion => unreachable!("not every kind has it"),
            };
        }
        if self == Self::Lifecycle {
            client.server().stop().await;
            assert_eq!(runs.stopped.load(Ordering::Relaxed), 1, "it stops once");
        }
        cell
    }
}

async fn constraint(offered: Offered<'_>) -> Cell {
    assert_eq!(offered.text("10").await, "10", "{offered}");
    offered.fails_with("50", &["value", "10"]).await;
    offered.fails_with("0", &["value", "1"]).await;
    Cell::Works
}

async fn pipe(offered: Offered<'_>) -> Cell {
    assert_eq!(offered.text(" red ").await, "red", "{offered}");
    offered.fails_with("grey", &["value", "there is no colour `grey`"]).await;
    Cell::Works
}

async fn dependency(offered: Offered<'_>, log: &Log) -> Cell {
    assert_eq!(offered.text("fine").await, "fine", "{offered}");
    assert_eq!(log.take(3).await, ["open fine", "body", "close: Succeeded"], "{offered}");
    offered.fails_with("fail", &["it fails"]).await;
    assert_eq!(log.take(3).await, ["open fail", "body", "close: Failed"], "{offered}");
    Cell::Works
}

async fn cancellation(offered: Offered<'_>, log: &Log) -> Cell {
    let begun = tokio::select! {
        called = offered.call("wait") => panic!("{offered} does not wait: {:?}", called.map(|called| called.text)),
        begun = log.take(2) => begun,
    };
    assert_eq!(begun, ["open wait", "body"], "{offered}");
    assert_eq!(log.take(1).await, ["close: Cancelled"], "{offered}");
    assert_eq!(offered.text("fine").await, "fine", "{offered}: the connection goes on");
    log.take(3).await;
    Cell::Works
}

async fn header(offered: Offered<'_>, way: Way) -> Cell {
    let (expected, cell) = if way.has_headers() { ("a Some(7) 3", Cell::Works) } else { ("a None 3", Cell::NoHeaders) };
    assert_eq!(offered.text("a").await, expected, "{offered}");
    cell
}

async fn missing_header(offered: Offered<'_>, way: Way) -> Cell {
    let reason = if way.has_headers() { "was not sent" } else { "stdio has no headers" };
    offered.fails_with("a", &["`x-user`", reason]).await;
    Cell::Works
}

async fn state(offered: Offered<'_>) -> Cell {
    let texts = tokio::join!(offered.text("a"), offered.text("b"), offered.text("a"));
    let (a, b) = ("resolver a, body a".to_owned(), "resolver b, body b".to_owned());
    assert_eq!(texts, (a.clone(), b, a), "{offered}");
    Cell::Works
}

async fn background(offered: Offered<'_>, gate: &Gate) -> Cell {
    let called = offered.call("a").await.unwrap_or_else(|error| panic!("{offered}: {error}"));
    assert_eq!(called.text, "a", "{offered}");
    let [status] = called.background.statuses()[..] else { panic!("{offered} has one task") };
    assert!(matches!(status, BackgroundStatus::Waiting | BackgroundStatus::Running), "{offered}: {status:?}");
    gate.0.notify_one();
    assert_eq!(called.background.finished().await, [BackgroundStatus::Succeeded], "{offered}");
    Cell::Works
}

async fn stream(client: &Client) -> Cell {
    let reply = client.call_tool("count", json!({})).await.unwrap();
    assert_eq!(reply.text(), "one two three");
    let items = reply.progress.iter().map(|item| (item.progress, item.total, item.message.as_deref().unwrap()));
    let expected = [(1.0, Some(3.0), "one "), (2.0, Some(3.0), "two "), (3.0, Some(3.0), "three")];
    assert_eq!(items.collect::<Vec<_>>(), expected);
    Cell::Works
}

async fn timeout(offered: Offered<'_>, log: &Log) -> Cell {
    offered.fails_with("a", &["timed out"]).await;
    assert_eq!(log.take(2).await, ["open a", "close: TimedOut"], "{offered}");
    Cell::Works
}

async fn middleware(offered: Offered<'_>) -> Cell {
    assert_eq!(offered.text("a").await, "a for acme", "{offered}");
    offered.fails_with("secret", &["that is secret"]).await;
    Cell::Works
}

async fn lifecycle(offered: Offered<'_>) -> Cell {
    assert_eq!(offered.text("a").await, "a 2 1", "{offered}: what the start made is there, and it started once");
    Cell::Works
}

async fn completion(client: &Client) -> Cell {
    for of in [Reference::prompt("paint"), Reference::resource("paint://{value}")] {
        assert_eq!(client.complete(of.clone(), "value", "b").await.unwrap().values, ["blue"], "{of:?}");
    }
    Cell::Works
}

async fn question(offered: Offered<'_>, client: &Client) -> Cell {
    assert_eq!(offered.text("a").await, "a true", "{offered}");
    let declining = client.clone().decline("sure");
    let declined = Offered { client: &declining, ..offered };
    declined.fails_with("a", &["declined"]).await;
    Cell::Works
}
