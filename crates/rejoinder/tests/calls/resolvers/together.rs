use super::*;

struct Meeting(Barrier);

#[resolver]
async fn left(meeting: Dep<Meeting>) -> bool {
    meeting.0.wait().await.is_leader()
}

#[resolver]
async fn right(meeting: Dep<Meeting>) -> bool {
    meeting.0.wait().await.is_leader()
}

#[resolver]
fn below(#[resolve(right)] right: &bool) -> bool {
    *right
}

/// Comes back only if both resolvers run at the same time.
#[tool]
async fn meet(#[resolve(left)] left: bool, #[resolve(below)] below: bool, #[resolve(right)] right: bool) -> String {
    assert_eq!(below, right);
    (left != right).to_string()
}

#[tokio::test]
async fn resolvers_that_do_not_need_each_other_run_at_the_same_time() {
    let server = Server::new("r", "1").provide(Meeting(Barrier::new(2))).tools(tools![meet]);
    in_both_eras(Client::new(server), async |client| {
        let call = client.call_tool("meet", json!({}));
        let reply = tokio::time::timeout(std::time::Duration::from_secs(60), call).await.expect("they met").unwrap();
        assert_eq!(reply.text(), "true");
    })
    .await;
}
