//! What a test can see of resolvers, and put in their place.

use super::*;

#[resolver]
fn owner(path: &str) -> Ask<Name> {
    Ask::user(format!("Who owns {path}?"))
}

#[resolver]
fn letter(#[resolve(owner)] owner: Name) -> String {
    format!("Dear {}", owner.name)
}

#[resolver]
fn unused() -> u8 {
    0
}

#[tool]
async fn write(path: String, #[resolve(letter)] letter: &String, #[resolve(owner)] owner: &Name) -> String {
    format!("{letter}: {path} is yours, {}", owner.name)
}

fn server() -> Server {
    Server::new("letters", "1.0.0").tools(tools![write])
}

#[tokio::test]
async fn a_test_sees_what_ran_in_which_round() {
    let client = Client::new(server()).answer("owner", ada());
    let reply = client.call_tool("write", json!({ "path": "/a" })).await.unwrap();
    assert_eq!(reply.text(), "Dear Ada: /a is yours, Ada");
    assert_eq!(reply.ran, [vec!["owner"], vec!["owner", "letter"]]);
    let reply = client.era(Era::Session).call_tool("write", json!({ "path": "/a" })).await.unwrap();
    assert_eq!(reply.ran, [["owner", "letter"]]);
}

#[tokio::test]
async fn a_resolver_is_replaced_for_a_test_and_asks_nothing_then() {
    in_both_eras(Client::new(server()), async |client| {
        let client = client.replace_resolver::<owner>(ada);
        let reply = client.call_tool("write", json!({ "path": "/a" })).await.unwrap();
        assert_eq!(reply.text(), "Dear Ada: /a is yours, Ada");
        assert_eq!((reply.asked.len(), reply.ran.concat()), (0, vec!["letter".to_owned()]));
        let client = client.replace_resolver::<letter>(|| "Hi".to_owned());
        assert_eq!(client.call_tool("write", json!({ "path": "/a" })).await.unwrap().text(), "Hi: /a is yours, Ada");
    })
    .await;
}

#[test]
#[should_panic(expected = "no item of the server uses the resolver `unused`")]
fn replacing_what_nothing_uses_is_a_mistake() {
    let _ = Client::new(server()).replace_resolver::<unused>(|| 1);
}

struct Desk {
    city: &'static str,
}

#[handlers]
impl Desk {
    #[resolver]
    fn sender(&self, path: &str) -> Ask<Name> {
        Ask::user(format!("Who sends {path} from {}?", self.city))
    }

    #[resolver]
    fn all<T: Default + Clone>(#[resolve(Self::sender)] sender: &Name) -> Vec<T> {
        vec![T::default(); sender.name.len()]
    }

    #[tool]
    async fn send(
        &self,
        path: String,
        #[resolve(Self::sender)] sender: Name,
        #[resolve(Self::all::<u8>)] all: &[u8],
    ) -> String {
        format!("{path} from {} with {all:?}", sender.name)
    }
}

fn desk() -> Client {
    Client::new(Server::new("post", "1.0.0").tools(Arc::new(Desk { city: "Bergen" }).tools()))
}

#[tokio::test]
async fn a_resolver_of_a_group_is_replaced_by_the_name_of_its_method() {
    in_both_eras(desk(), async |client| {
        let client = client.replace_method(Desk::sender, ada);
        let reply = client.call_tool("send", json!({ "path": "/a" })).await.unwrap();
        assert_eq!(reply.text(), "/a from Ada with [0, 0, 0]");
        assert_eq!((reply.asked.len(), reply.ran.concat()), (0, vec!["all::<u8>".to_owned()]));
        let client = client.replace_method(Desk::all::<u8>, || vec![7_u8]);
        assert_eq!(client.call_tool("send", json!({ "path": "/a" })).await.unwrap().text(), "/a from Ada with [7]");
    })
    .await;
}

#[test]
#[should_panic(expected = "no item of the server uses the resolver `calls::resolvers::doubles::Desk::all<u16>`")]
fn another_instance_of_a_generic_method_is_not_replaced() {
    let _ = desk().replace_method(Desk::all::<u16>, Vec::<u16>::new);
}

#[test]
#[should_panic(expected = "the resolver `sender` makes a `calls::resolvers::Name`; it cannot be replaced with a `u8`")]
fn a_stand_in_of_another_type_is_a_mistake() {
    let _ = desk().replace_method(Desk::sender, || 1_u8);
}

#[test]
fn a_resolver_of_a_group_is_shown_by_its_name() {
    let server = Server::new("post", "1.0.0").tools(Arc::new(Desk { city: "Bergen" }).tools()).build().unwrap();
    let graph = server.graph();
    for shown in [graph.to_string(), graph.mermaid()] {
        assert!(shown.contains("sender") && shown.contains("all::") && !shown.contains("__rj"), "{shown}");
    }
}

/// Takes the tool's argument, and asks.
#[resolver]
fn asked_letter(note: &str) -> Ask<String> {
    Ask::text(format!("Which letter goes with {note}?"))
}

/// Fails.
#[resolver]
fn failing_letter() -> Result<String, CallError> {
    Err(CallError::new("the printer is out of paper"))
}

#[resolver]
fn plain_letter() -> String {
    "Hello".to_owned()
}

#[tool]
async fn post(note: String, #[resolve(plain_letter)] letter: String) -> String {
    format!("{letter}: {note}")
}

#[tokio::test]
async fn a_resolver_is_replaced_with_one_that_asks_or_fails() {
    let client = Client::new(Server::new("post", "1.0.0").tools(tools![post]));
    let text = rejoinder::form::TextForm { text: "Hi".to_owned() };
    in_both_eras(client, async |client| {
        let asking = client.clone().replace_with::<plain_letter, asked_letter>().answer("asked_letter", text.clone());
        let reply = asking.call_tool("post", json!({ "note": "soon" })).await.unwrap();
        assert_eq!((reply.text().as_str(), reply.asked), ("Hi: soon", vec![vec!["asked_letter".to_owned()]]));
        let failing = client.replace_with::<plain_letter, failing_letter>();
        let reply = failing.call_tool("post", json!({ "note": "soon" })).await.unwrap();
        assert_eq!((reply.text().as_str(), reply.is_error()), ("the printer is out of paper", true));
    })
    .await;
}
