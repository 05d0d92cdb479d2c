use super::*;

#[derive(Default)]
struct Tries(AtomicU32);

#[resolver]
async fn broken(tries: Dep<Tries>) -> Result<u32, CallError> {
    tries.0.fetch_add(1, Ordering::Relaxed);
    tokio::task::yield_now().await;
    Ok("x".parse()?)
}

#[resolver]
fn one(#[resolve(broken)] broken: u32) -> u32 {
    broken
}

#[resolver]
fn two(#[resolve(broken)] broken: &u32) -> u32 {
    *broken
}

#[tool]
fn sum(#[resolve(one)] one: u32, #[resolve(two)] two: u32, #[resolve(broken)] three: Option<u32>) -> String {
    format!("{one} {two} {three:?}")
}

#[tokio::test]
async fn e5_a_failure_is_not_retried_and_its_detail_stays_in_the_log() {
    let tries = Arc::new(Tries::default());
    let client = Client::new(Server::new("r", "1").provide_arc(Arc::clone(&tries)).tools(tools![sum]));
    let reply = client.call_tool("sum", json!({})).await.unwrap();
    assert!(reply.is_error());
    assert!(!reply.text().contains("invalid digit"), "the detail goes to the log: {}", reply.text());
    assert_eq!(tries.0.load(Ordering::Relaxed), 1);
}

#[resolver]
fn asked() -> Ask<bool> {
    Ask::confirm("Sure?")
}

#[resolver]
async fn endless() -> u8 {
    std::future::pending().await
}

#[resolver]
async fn refusing() -> Result<u8, CallError> {
    tokio::task::yield_now().await;
    Err(CallError::new("not now"))
}

/// What it needs ends, although what it also needs does not.
#[resolver]
fn both(#[resolve(endless)] endless: u8, #[resolve(refusing)] refusing: u8) -> u8 {
    endless + refusing
}

#[tool]
async fn declined_beside(#[resolve(endless)] endless: u8, #[resolve(asked)] asked: bool) -> String {
    format!("{endless} {asked}")
}

#[tool]
async fn refused_beside(#[resolve(both)] both: u8, #[resolve(endless)] endless: Option<u8>) -> String {
    format!("{both} {endless:?}")
}

#[tokio::test]
async fn e4_what_ends_the_call_ends_it_at_once() {
    let server = Server::new("ending", "1.0.0").tools(tools![declined_beside, refused_beside]);
    let client = Client::new(server).decline("asked");
    in_both_eras(client.clone(), async |client| {
        assert_eq!(client.call_tool("refused_beside", json!({})).await.unwrap().text(), "not now");
    })
    .await;
    // A stateless round waits for all its resolvers, so that everything that can be asked is asked at once.
    let reply = client.era(Era::Session).call_tool("declined_beside", json!({})).await.unwrap();
    assert_eq!(reply.text(), "the user declined `asked`");
}

#[resolver]
async fn exploding() -> u8 {
    tokio::task::yield_now().await;
    panic!("on purpose")
}

#[tool]
async fn fragile(#[resolve(exploding)] exploding: Option<u8>, #[resolve(asked)] asked: Option<bool>) -> String {
    format!("{exploding:?} {asked:?}")
}

#[tool]
async fn sturdy(#[resolve(asked)] asked: bool) -> String {
    asked.to_string()
}

#[tokio::test]
async fn a_panic_in_a_resolver_ends_its_call_and_nothing_else() {
    let server = Server::new("panicking", "1.0.0").tools(tools![fragile, sturdy]);
    in_both_eras(Client::new(server).answer("asked", rejoinder::form::ConfirmForm { yes: true }), async |client| {
        let said = match client.call_tool("fragile", json!({})).await {
            Err(error) => error.to_string(),
            // On a session the model reads it.
            Ok(reply) => reply.text(),
        };
        assert!(said.contains("Internal error. See the server log, id ") && !said.contains("on purpose"), "{said}");
        assert_eq!(client.call_tool("sturdy", json!({})).await.unwrap().text(), "true");
    })
    .await;
}
