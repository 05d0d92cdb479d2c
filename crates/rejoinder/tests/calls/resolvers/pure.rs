use super::*;

#[resolver]
fn length(path: &str, runs: Dep<Runs>) -> usize {
    runs.count("length");
    path.len()
}

#[resolver]
fn first(words: &[String]) -> String {
    words.first().cloned().unwrap_or_default()
}

/// Owned and borrowed arguments, values and what the call supplies, all in one.
#[resolver]
async fn summary(
    path: String,
    #[arg(name = "max-depth")] depth: &u32,
    #[resolve(length)] length: &usize,
    #[resolve(first)] first: String,
    version: Version,
    ctx: Context,
) -> Result<String, CallError> {
    tokio::task::yield_now().await;
    assert_eq!(ctx.protocol_version(), version.0);
    Ok(format!("{path} {depth} {length} {first}"))
}

#[tool]
fn measure(
    #[resolve(length)] length: usize,
    path: String,
    #[arg(name = "max-depth", default = 3)] depth: u32,
    words: Vec<String>,
    #[resolve(summary)] summary: &String,
    runs: Dep<Runs>,
) -> String {
    runs.count("measure");
    format!("{summary} / {path} {depth} {words:?} {length}")
}

#[tokio::test]
async fn values_are_chained_and_each_is_made_once() {
    let runs = Arc::new(Runs::default());
    let server = Server::new("r", "1").provide_arc(Arc::clone(&runs)).tools(tools![measure]);
    in_both_eras(Client::new(server), async |client| {
        let reply = client.call_tool("measure", json!({ "path": "abc", "words": ["x"] })).await.unwrap();
        assert_eq!(reply.text(), "abc 3 3 x / abc 3 [\"x\"] 3");
        assert_eq!(reply.asked.len(), 0);
    })
    .await;
    assert_eq!((runs.of("length"), runs.of("measure")), (2, 2), "once for each call");
}

#[tokio::test]
async fn the_model_neither_sees_nor_supplies_them() {
    let client = Client::new(Server::new("r", "1").provide(Runs::default()).tools(tools![measure]));
    let schema = &client.list_tools().await.unwrap()[0].input_schema;
    let names: Vec<_> = schema["properties"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(names, ["path", "max-depth", "words"]);
    let reply = client.call_tool("measure", json!({ "path": "a", "words": [], "length": 7 })).await.unwrap();
    assert!(reply.is_error() && reply.text().contains("length"), "{}", reply.text());
}

#[test]
fn what_resolvers_need_must_be_provided() {
    let mistakes = Server::new("r", "1").tools(tools![measure]).check().unwrap_err().to_string();
    assert!(mistakes.contains("Runs"), "{mistakes}");
}

#[resolver]
fn only_here(runs: Dep<Runs>) -> u32 {
    runs.of("nothing")
}

#[resolver]
fn above(#[resolve(only_here)] below: u32) -> u32 {
    below
}

#[tool]
fn needs_below(#[resolve(above)] above: u32) -> String {
    above.to_string()
}

#[test]
fn also_what_they_need_two_levels_down() {
    let mistakes = Server::new("r", "1").tools(tools![needs_below]).check().unwrap_err().to_string();
    let expected = "tool `needs_below`: parameter `runs` of resolver `only_here` needs a `calls::resolvers::Runs`: provide one with";
    assert!(mistakes.contains(expected), "{mistakes}");
    let shared = Server::new("r", "1").provide(Arc::new(Runs::default())).tools(tools![needs_below]);
    let mistakes = shared.check().unwrap_err().to_string();
    assert!(mistakes.contains("an `Arc` of it was provided with `.provide(..)`; use `.provide_arc(..)`"), "{mistakes}");
}

#[test]
fn it_is_still_a_function() {
    assert_eq!(length("four", Dep::new(Runs::default())), 4);
}

#[resolver(cache = false)]
fn ticket(runs: Dep<Runs>) -> u32 {
    runs.count("ticket");
    runs.of("ticket")
}

#[tool]
fn tickets(#[resolve(ticket)] one: u32, #[resolve(ticket)] two: u32) -> String {
    format!("{one} {two}")
}

#[tokio::test]
async fn what_is_not_kept_is_made_for_each() {
    let client = Client::new(Server::new("r", "1").provide(Runs::default()).tools(tools![tickets]));
    assert_eq!(client.call_tool("tickets", json!({})).await.unwrap().text(), "1 2");
}
