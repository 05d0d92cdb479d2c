//! One function for many types: `#[resolve(load::<User>)]`.

use super::*;

/// What is kept in a store, by its number.
trait Entity: Clone + Send + Sync + 'static {
    const WORD: &'static str;
}

#[derive(Clone)]
struct User(&'static str);

#[derive(Clone)]
struct Order(&'static str);

impl Entity for User {
    const WORD: &'static str = "user";
}

impl Entity for Order {
    const WORD: &'static str = "order";
}

struct Store<T>(BTreeMap<u64, T>);

#[resolver]
async fn load<T: Entity>(id: u64, store: Dep<Store<T>>, runs: Dep<Runs>) -> Result<T, CallError> {
    runs.count(T::WORD);
    store.0.get(&id).cloned().ok_or_else(|| CallError::new(format!("there is no {} {id}", T::WORD)))
}

/// Needs another generic one, for its own type.
#[resolver]
fn word<T>(#[resolve(load::<T>)] _found: &T) -> &'static str
where
    T: Entity,
{
    T::WORD
}

#[tool]
async fn show(
    id: u64,
    #[resolve(load::<User>)] user: User,
    #[resolve(load::<Order>)] order: &Order,
    #[resolve(word::<User>)] word: &'static str,
) -> String {
    format!("{id} {} {} {word}", user.0, order.0)
}

/// Asks how many there are, each time under a key of its own.
#[resolver]
fn ask_for<const WHAT: char>() -> Ask<String> {
    Ask::text(format!("How many {WHAT}?"))
}

#[tool]
async fn count(#[resolve(ask_for::<'a'>)] a: String, #[resolve(ask_for::<'b'>)] b: String) -> String {
    format!("{a} {b}")
}

fn server() -> Server {
    Server::new("stores", "1.0.0")
        .provide(Store(BTreeMap::from([(1, User("ada"))])))
        .provide(Store(BTreeMap::from([(1, Order("tea"))])))
        .provide(Runs::default())
        .tools(tools![show, count])
}

#[tokio::test]
async fn each_instance_of_a_generic_resolver_is_one_of_its_own() {
    let runs = Arc::new(Runs::default());
    let client = Client::new(server().provide_arc(Arc::clone(&runs)));
    assert_eq!(client.call_tool("show", json!({ "id": 1 })).await.unwrap().text(), "1 ada tea user");
    assert_eq!((runs.of("user"), runs.of("order")), (1, 1));
    assert_eq!(client.call_tool("show", json!({ "id": 2 })).await.unwrap().text(), "there is no user 2");
}

#[tokio::test]
async fn an_instance_is_shown_with_its_types() {
    let reply = Client::new(server()).call_tool("show", json!({ "id": 1 })).await.unwrap();
    assert_eq!(reply.ran, [["load::<User>", "load::<Order>", "word::<User>"]]);
    let graph = server().graph();
    assert!(graph.to_string().contains("from `word::<User>`"), "{graph}");
    assert!(graph.to_string().contains("from `ask_for::<'a'>`, which asks as `ask_for`"), "{graph}");
    assert!(graph.mermaid().contains("load::#lt;Order#gt;"), "{}", graph.mermaid());
}

#[tokio::test]
async fn d1_instances_that_ask_have_numbered_keys() {
    let text = |text: &str| rejoinder::form::TextForm { text: text.into() };
    in_both_eras(Client::new(server()).answer("ask_for", text("1")).answer("ask_for#1", text("2")), async |client| {
        assert_eq!(client.call_tool("count", json!({})).await.unwrap().text(), "1 2");
    })
    .await;
}

#[test]
fn what_an_instance_needs_must_be_provided() {
    let server = Server::new("stores", "1.0.0").provide(Runs::default()).tools(tools![show]);
    let mistakes = server.check().unwrap_err().to_string();
    assert!(mistakes.contains("Store<calls::resolvers::generic::User>"), "{mistakes}");
    assert!(mistakes.contains("Store<calls::resolvers::generic::Order>"), "{mistakes}");
}
