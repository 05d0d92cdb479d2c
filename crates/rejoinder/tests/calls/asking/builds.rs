//! Two builds of a server take the rounds of one call in turn, as behind a load balancer during a rollout.

use std::{
    collections::BTreeSet,
    env,
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    process::{Child, Command, Stdio},
    time::Duration,
};

use rejoinder::{
    Tool,
    form::ConfirmForm,
    state::{StateKeys, StatePolicy},
};
use serde_json::Value;

use super::*;
use crate::{asking::rounds::round, logged::Logged};

/// Asks these questions, by key and text, one after the other, and takes a step after the one that a `!` marks.
async fn course(ctx: &Context, counters: &Counters, questions: &[(&str, &str)]) -> Result<String, CallError> {
    for (key, text) in questions {
        ctx.ask(key, Ask::confirm(*text)).await?;
        if text.ends_with('!') {
            let charge = || async { Ok(counters.charges.fetch_add(1, Ordering::Relaxed)) };
            ctx.once::<u32, _>(&format!("charge {key}"), charge).await?;
        }
    }
    Ok("done".to_owned())
}

/// Tools that ask in the body, of which each has an old and a new build.
macro_rules! builds {
    ($($tool:ident: $old:expr, $new:expr;)*) => {
        mod old {
            use super::*;
            $(
                #[tool]
                pub(super) async fn $tool(ctx: Context, counters: Dep<Counters>) -> Result<String, CallError> {
                    course(&ctx, &counters, &$old).await
                }
            )*
        }
        mod new {
            use super::*;
            $(
                #[tool]
                pub(super) async fn $tool(ctx: Context, counters: Dep<Counters>) -> Result<String, CallError> {
                    course(&ctx, &counters, &$new).await
                }
            )*
        }
        const ASKS: &[&str] = &[$(stringify!($tool)),*];
        fn tools_of(build: &str) -> Vec<Tool> {
            if build == "old" { tools![$(old::$tool),*] } else { tools![$(new::$tool),*] }
        }
    };
}

builds! {
    other_keys: [("github", "GitHub?"), ("google", "Google?")], [("github", "GitHub?"), ("microsoft", "Microsoft?")];
    nothing_shared: [("a", "A?"), ("b", "B?"), ("c", "C?")], [("d", "D?"), ("e", "E?"), ("f", "F?")];
    other_texts: [("a", "A?"), ("b", "B?"), ("c", "C?")], [("a", "Really A?"), ("b", "Really B?"), ("c", "Really C?")];
    other_order: [("a", "A?"), ("b", "B?"), ("c", "C?")], [("c", "C?"), ("b", "B?"), ("a", "A?")];
    another_step: [("a", "A?"), ("b", "B?")], [("a", "A?"), ("pay", "Pay!"), ("c", "C?")];
    final_answers: [("a", "A!"), ("b", "B?"), ("c", "C?")], [("a", "A!"), ("d", "D?"), ("c", "C again?")];
}

/// The questions of resolvers, which go out together.
mod resolved {
    use super::*;

    #[resolver]
    fn github() -> Ask<bool> {
        Ask::confirm("GitHub?")
    }

    #[resolver]
    fn google() -> Ask<bool> {
        Ask::confirm("Google?")
    }

    #[resolver]
    fn microsoft(#[resolve(github)] github: bool) -> Ask<bool> {
        Ask::confirm(format!("Microsoft? ({github})"))
    }

    #[tool(name = "log_in")]
    async fn log_in_old(#[resolve(github)] _github: bool, #[resolve(google)] _google: bool) -> &'static str {
        "done"
    }

    #[tool(name = "log_in")]
    async fn log_in_new(#[resolve(github)] _github: bool, #[resolve(microsoft)] _microsoft: bool) -> &'static str {
        "done"
    }

    pub(super) fn tools_of(build: &str) -> Vec<Tool> {
        if build == "old" { tools![log_in_old] } else { tools![log_in_new] }
    }
}

/// Two builds that do not read each other's state by hand.
mod by_hand {
    use super::*;

    #[tool(name = "by_hand")]
    async fn by_hand_old(rounds: Rounds) -> Reply<&'static str> {
        match rounds.state::<u32>() {
            Some(2) => Reply::done("done"),
            stage => Reply::ask("go on", Ask::confirm("Go on?")).with_state(stage.unwrap_or_default() + 1),
        }
    }

    #[tool(name = "by_hand")]
    async fn by_hand_new(rounds: Rounds) -> Reply<&'static str> {
        match rounds.state::<String>().as_deref() {
            Some("xx") => Reply::done("done"),
            stage => Reply::ask("go on", Ask::confirm("Go on?")).with_state(format!("{}x", stage.unwrap_or_default())),
        }
    }

    pub(super) fn tools_of(build: &str) -> Vec<Tool> {
        if build == "old" { tools![by_hand_old] } else { tools![by_hand_new] }
    }
}

fn server_of(build: &str) -> Server {
    server_of_version(build, if build == "old" { "1.0.0" } else { "2.0.0" })
}

fn server_of_version(build: &str, version: &str) -> Server {
    let keys = StateKeys::new([b"a key of 32 bytes for some tests"]).unwrap();
    Server::new("rolling", version)
        .state(StatePolicy::new().keys(keys))
        .provide(Counters::default())
        .tools([tools_of(build), resolved::tools_of(build), by_hand::tools_of(build)].concat())
}

/// Calls a tool whose rounds these take in turn, says yes to everything, and returns what was asked and the result.
async fn alternate<B>(builds: [&B; 2], call: impl AsyncFn(&B, &Value) -> Value) -> (Vec<(String, String)>, Value) {
    let (mut asked, mut rest) = (Vec::new(), json!({}));
    for number in 0..80 {
        let result = call(builds[number % 2], &rest).await;
        if result["resultType"] != "input_required" {
            return (asked, result);
        }
        let mut answers = json!({});
        for (key, question) in result["inputRequests"].as_object().unwrap() {
            asked.push((key.clone(), question["params"]["message"].as_str().unwrap().to_owned()));
            answers[key] = json!({ "action": "accept", "content": ConfirmForm { yes: true }.write() });
        }
        rest = json!({ "requestState": result["requestState"], "inputResponses": answers });
    }
    panic!("no end: {asked:?}");
}

#[tokio::test]
async fn builds_that_do_not_read_the_state_of_each_other_end_after_so_many_rounds() {
    let capabilities = || serde_json::from_value(json!({ "elicitation": {} })).unwrap();
    for versions in [["1.0.0", "2.0.0"], ["1.0.0", "1.0.0"]] {
        let server = |index: usize| server_of_version(["old", "new"][index], versions[index]);
        let clients = [0, 1].map(|index| Client::new(server(index)).capabilities(capabilities()));
        let call =
            async |client: &Client, rest: &Value| round(client, "by_hand", json!({}), rest.clone()).await.unwrap();
        let (asked, result) = alternate([&clients[0], &clients[1]], call).await;
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("the call has no result after 64 rounds"), "{text}");
        assert_eq!(asked.len(), 64);
    }
}

/// Two builds whose answers do not fit into the state together.
mod long_answers {
    use super::*;

    #[tool(name = "essay")]
    async fn essay_old(ctx: Context) -> Result<String, CallError> {
        ctx.ask("a", Ask::text("A?")).await?;
        ctx.ask("b", Ask::text("B?")).await
    }

    #[tool(name = "essay")]
    async fn essay_new(ctx: Context) -> Result<String, CallError> {
        ctx.ask("c", Ask::text("C?")).await?;
        ctx.ask("d", Ask::text("D?")).await
    }

    #[tokio::test]
    async fn u3_2_a_call_ends_although_the_answers_of_two_builds_do_not_fit_together() {
        let keys = || StateKeys::new([b"a key of 32 bytes for some tests"]).unwrap();
        let text = json!({ "action": "accept", "content": { "text": "x".repeat(900) } });
        for (limit, text_of_end) in [(8_000, "xxx"), (3_000, "the call has no result after 64 rounds")] {
            let clients = [tools![essay_old], tools![essay_new]].map(|tools| {
                let policy = StatePolicy::new().keys(keys()).limit(limit);
                let server = Server::new("rolling", "1").state(policy).tools(tools);
                Client::new(server).capabilities(serde_json::from_value(json!({ "elicitation": {} })).unwrap())
            });
            let mut rest = json!({});
            let ended = 'call: {
                for number in 0..80 {
                    let result = round(&clients[number % 2], "essay", json!({}), rest).await.unwrap();
                    let Some(asked) = result["inputRequests"].as_object() else { break 'call result };
                    let answers: Value = asked.keys().map(|key| (key.clone(), text.clone())).collect();
                    rest = json!({ "requestState": result["requestState"], "inputResponses": answers });
                }
                panic!("no end")
            };
            let ended = ended["content"][0]["text"].as_str().unwrap();
            assert!(ended.starts_with(text_of_end), "{limit}: {ended}");
        }
    }
}

fn each_once(asked: &[(String, String)]) -> bool {
    asked.iter().collect::<BTreeSet<_>>().len() == asked.len()
}

#[tokio::test]
async fn u3_2_a_call_ends_when_builds_that_ask_differently_take_turns() {
    let (logged, _guard) = Logged::here();
    let capabilities = || serde_json::from_value(json!({ "elicitation": {} })).unwrap();
    for order in [["old", "new"], ["new", "old"]] {
        let clients = order.map(|build| Client::new(server_of(build)).capabilities(capabilities()));
        for tool in ASKS.iter().copied().chain(["log_in"]) {
            let call =
                async |client: &Client, rest: &Value| round(client, tool, json!({}), rest.clone()).await.unwrap();
            let (asked, result) = alternate(clients.each_ref(), call).await;
            assert_eq!(result["content"][0]["text"], "done", "{tool} {order:?}: {result}");
            assert!(each_once(&asked), "{tool} {order:?}: {asked:?}");
        }
    }
    assert!(!logged.text().contains("did not reach"), "{}", logged.text());
}

/// Asks what the step is taken with in other words.
mod reworded {
    use super::*;

    #[tool(name = "pay")]
    async fn pay_old(ctx: Context, counters: Dep<Counters>) -> Result<String, CallError> {
        course(&ctx, &counters, &[("amount", "One!"), ("b", "B?")]).await
    }

    #[tool(name = "pay")]
    async fn pay_new(ctx: Context, counters: Dep<Counters>) -> Result<String, CallError> {
        course(&ctx, &counters, &[("amount", "A thousand!"), ("b", "B?")]).await
    }

    #[tokio::test]
    async fn u3_2_a_build_cannot_reword_a_question_after_the_step() {
        let keys = || StateKeys::new([b"a key of 32 bytes for some tests"]).unwrap();
        let capabilities = || serde_json::from_value(json!({ "elicitation": {} })).unwrap();
        let clients = [tools![pay_old], tools![pay_new]].map(|tools| {
            let server = Server::new("rolling", "1").state(StatePolicy::new().keys(keys())).tools(tools);
            Client::new(server.provide(Counters::default())).capabilities(capabilities())
        });
        let call = async |client: &Client, rest: &Value| round(client, "pay", json!({}), rest.clone()).await.unwrap();
        let (asked, result) = alternate([&clients[0], &clients[1]], call).await;
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("the text of question `amount` changed after a step was taken"), "{text}");
        assert_eq!(asked.len(), 3, "{asked:?}");
    }
}

/// Which build a process serves.
const BUILD: &str = "REJOINDER_BUILD";

/// A process that serves a build over HTTP, until this is dropped.
struct Program(Child, SocketAddr);

impl Program {
    fn start(build: &str) -> Self {
        let name = "asking::builds::u3_2_a_call_ends_behind_a_round_robin_of_two_programs";
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", name, "--nocapture"]).env(BUILD, build).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let address = lines.into_iter().find_map(|line| line.strip_prefix("listening ")?.parse().ok());
        Self(child, address.expect("it prints its address"))
    }

    /// One round of a call.
    fn call(&self, tool: &str, rest: &Value) -> Value {
        let mut params = json!({ "name": tool, "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} } } });
        params.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
        let mut stream = TcpStream::connect(self.1).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
             accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\n\
             mcp-name: {tool}\r\n\r\n{body}",
            self.1,
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        let (_, body) = reply.split_once("\r\n\r\n").expect(&reply);
        let body: Value = serde_json::from_str(body).expect(&reply);
        assert!(body["result"].is_object(), "{body}");
        body["result"].clone()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The test runs itself again as the two programs.
#[tokio::test]
async fn u3_2_a_call_ends_behind_a_round_robin_of_two_programs() {
    if let Ok(build) = env::var(BUILD) {
        // It ends with the test, however the test ends.
        std::thread::spawn(|| {
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
            std::process::exit(0);
        });
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        println!("\nlistening {}", listener.local_addr().unwrap());
        return server_of(&build).build().unwrap().serve_http(listener).await.unwrap();
    }
    let programs = ["old", "new"].map(Program::start);
    for tool in ["other_keys", "other_texts", "another_step", "log_in"] {
        let call = async |program: &Program, rest: &Value| program.call(tool, rest);
        let (asked, result) = alternate(programs.each_ref(), call).await;
        assert_eq!(result["content"][0]["text"], "done", "{tool}: {result}");
        assert!(each_once(&asked), "{tool}: {asked:?}");
    }
}
