//! Two builds of one tool that ask for different things, behind one address while the new one is rolled out.

use std::net::SocketAddr;

use rejoinder::{
    prelude::*,
    state::{StateKeys, StatePolicy},
};
use rmcp::transport::StreamableHttpClientTransport;
use serde_json::json;
use tokio::net::TcpListener;

use crate::{
    calls::{Era, accept},
    person::{Person, call, wire},
    program::{bounded, url},
    proxy::Proxy,
};

#[derive(Elicit)]
struct Login {
    user: String,
}

mod old {
    use super::*;

    #[resolver]
    fn github_login() -> Ask<Login> {
        Ask::user("Your name at GitHub?")
    }

    #[resolver]
    fn google_login() -> Ask<Login> {
        Ask::user("Your name at Google?")
    }

    #[tool]
    pub(super) fn sign_in(#[resolve(github_login)] one: &Login, #[resolve(google_login)] other: &Login) -> String {
        format!("old: {}, {}", one.user, other.user)
    }
}

mod new {
    use super::*;

    #[resolver]
    fn github_login() -> Ask<Login> {
        Ask::user("Your name at GitHub?")
    }

    #[resolver]
    fn microsoft_login() -> Ask<Login> {
        Ask::user("Your name at Microsoft?")
    }

    #[tool]
    pub(super) fn sign_in(#[resolve(github_login)] one: &Login, #[resolve(microsoft_login)] other: &Login) -> String {
        format!("new: {}, {}", one.user, other.user)
    }
}

#[derive(PartialEq)]
enum Build {
    Old,
    New,
}

use Build::{New, Old};

async fn start(build: Server) -> SocketAddr {
    let keys = StateKeys::new(["0123456789abcdef0123456789abcdef"]).expect("a key");
    let server = build.state(StatePolicy::new().keys(keys)).build().expect("a server");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(server.serve_http(listener));
    address
}

/// Signs in, with one build for each round. Returns the questions, sorted, and the result.
async fn sign_in(route: &[Build]) -> (Vec<String>, String) {
    let old = start(Server::new("login", "1.0.0").tools(tools![old::sign_in])).await;
    let new = start(Server::new("login", "2.0.0").tools(tools![new::sign_in])).await;
    let address = |build: &Build| if *build == Old { old } else { new };
    let proxy = Proxy::start(route.iter().map(address).collect::<Vec<_>>()).await;
    let person = Person::new(json!({
        "Your name at GitHub?": accept(json!({ "user": "ada-hub" })),
        "Your name at Google?": accept(json!({ "user": "ada-goo" })),
        "Your name at Microsoft?": accept(json!({ "user": "ada-soft" })),
    }));
    let transport = StreamableHttpClientTransport::from_uri(url(proxy.address));
    let client = person.connect(Era::Stateless, transport).await;
    let result = wire(bounded(client.call_tool(call("sign_in", &json!({})))).await.expect("a result"));
    assert_eq!(proxy.served(), Vec::from_iter(0..route.len()), "every round was served as planned");
    let mut asked = person.asked();
    asked.sort();
    (asked, result["content"][0]["text"].as_str().expect("text").to_owned())
}

const EACH_ONCE: [&str; 3] = ["Your name at GitHub?", "Your name at Google?", "Your name at Microsoft?"];

#[tokio::test]
async fn a_call_that_began_on_the_old_build_ends_on_the_new_one() {
    let (asked, said) = sign_in(&[Old, New, New]).await;
    assert_eq!(asked, EACH_ONCE, "what both ask in the same words is asked once");
    assert_eq!(said, "new: ada-hub, ada-soft");
}

#[tokio::test]
async fn and_back_if_the_new_build_is_withdrawn() {
    let (asked, said) = sign_in(&[New, Old, Old]).await;
    assert_eq!(asked, EACH_ONCE);
    assert_eq!(said, "old: ada-hub, ada-goo");
}
