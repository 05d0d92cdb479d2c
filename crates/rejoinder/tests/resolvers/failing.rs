use super::*;

#[derive(Default)]
struct Tries(AtomicU32);

#[resolver]
async fn broken(tries: Dep<Tries>) -> Result<u32, std::num::ParseIntError> {
    tries.0.fetch_add(1, Ordering::Relaxed);
    tokio::task::yield_now().await;
    "x".parse()
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
async fn what_failed_is_not_tried_again() {
    let tries = Arc::new(Tries::default());
    let client = Client::new(Server::new("r", "1").provide_shared(Arc::clone(&tries)).tools(tools![sum]));
    let reply = client.call("sum", json!({})).await.unwrap();
    assert!(reply.is_error());
    assert!(!reply.text().contains("invalid digit"), "the detail goes to the log: {}", reply.text());
    assert_eq!(tries.0.load(Ordering::Relaxed), 1);
}
