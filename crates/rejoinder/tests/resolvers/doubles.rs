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
    let reply = client.call("write", json!({ "path": "/a" })).await.unwrap();
    assert_eq!(reply.text(), "Dear Ada: /a is yours, Ada");
    assert_eq!(reply.ran, [vec!["owner"], vec!["owner", "letter"]]);
    let reply = client.era(Era::Session).call("write", json!({ "path": "/a" })).await.unwrap();
    assert_eq!(reply.ran, [["owner", "letter"]]);
}

#[tokio::test]
async fn a_resolver_is_replaced_for_a_test_and_asks_nothing_then() {
    in_both_eras(Client::new(server()), async |client| {
        let client = client.replace_resolver::<owner>(ada);
        let reply = client.call("write", json!({ "path": "/a" })).await.unwrap();
        assert_eq!(reply.text(), "Dear Ada: /a is yours, Ada");
        assert_eq!((reply.asked.len(), reply.ran.concat()), (0, vec!["letter".to_owned()]));
        let client = client.replace_resolver::<letter>(|| "Hi".to_owned());
        assert_eq!(client.call("write", json!({ "path": "/a" })).await.unwrap().text(), "Hi: /a is yours, Ada");
    })
    .await;
}

#[test]
#[should_panic(expected = "nothing of the server uses the resolver `unused`")]
fn replacing_what_nothing_uses_is_a_mistake() {
    let _ = Client::new(server()).replace_resolver::<unused>(|| 1);
}
