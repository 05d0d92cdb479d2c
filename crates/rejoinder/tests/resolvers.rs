//! Parameters that resolvers fill: the same functions, for clients of both eras.

#![expect(
    clippy::unwrap_used,
    clippy::ptr_arg,
    reason = "tests may panic; a parameter has the type that its resolver makes"
)]

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
};

use rejoinder::{Call, Era, FromCall, prelude::*, testing::Client};
use serde_json::json;
use tokio::sync::Barrier;

#[derive(Elicit, Debug, Clone, PartialEq)]
struct Name {
    name: String,
}

#[derive(Elicit, Debug)]
struct Confirm {
    yes: bool,
}

/// Counts what ran.
#[derive(Default)]
struct Runs(Mutex<BTreeMap<&'static str, u32>>);

impl Runs {
    fn count(&self, name: &'static str) {
        *self.0.lock().unwrap().entry(name).or_default() += 1;
    }

    fn of(&self, name: &str) -> u32 {
        self.0.lock().unwrap().get(name).copied().unwrap_or_default()
    }
}

/// A parameter of our own, which resolvers take like any other.
struct Version(&'static str);

impl FromCall for Version {
    fn from_call(call: &Call, _: &'static str) -> Result<Self, ToolError> {
        Ok(Self(call.facts().protocol_version))
    }
}

async fn in_both_eras(client: Client, test: impl AsyncFn(Client)) {
    test(client.clone()).await;
    test(client.era(Era::Session)).await;
}

fn ada() -> Name {
    Name { name: "Ada".into() }
}

mod pure {
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
    ) -> Result<String, ToolError> {
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
        let server = Server::new("r", "1").provide_shared(Arc::clone(&runs)).tools(tools![measure]);
        in_both_eras(Client::new(server), async |client| {
            let reply = client.call("measure", json!({ "path": "abc", "words": ["x"] })).await.unwrap();
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
        let reply = client.call("measure", json!({ "path": "a", "words": [], "length": 7 })).await.unwrap();
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
        assert!(mistakes.contains("`runs`") && mistakes.contains("Runs"), "{mistakes}");
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
        assert_eq!(client.call("tickets", json!({})).await.unwrap().text(), "1 2");
    }
}

mod together {
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
            let call = client.call("meet", json!({}));
            let reply = tokio::time::timeout(std::time::Duration::from_secs(5), call).await.expect("they met").unwrap();
            assert_eq!(reply.text(), "true");
        })
        .await;
    }
}

mod asking {
    use super::*;

    #[resolver(key = "user_name")]
    fn who(runs: Dep<Runs>) -> Ask<Name> {
        runs.count("who");
        Ask::user("Who?")
    }

    /// Asks only where there is something to lose.
    #[resolver]
    async fn confirm(path: &str) -> Result<Ask<Confirm>, ToolError> {
        match path {
            "" => Err(ToolError::new("say which folder")),
            "empty" => Ok(Ask::known(Confirm { yes: true })),
            path => Ok(Ask::user(format!("Delete {path}?"))),
        }
    }

    /// Asks in words that depend on another answer.
    #[resolver]
    fn reason(#[resolve(who)] who: &Name) -> Ask<Name> {
        Ask::user(format!("Why, {}?", who.name))
    }

    #[tool]
    async fn delete(
        path: String,
        #[resolve(confirm)] confirm: &Confirm,
        #[resolve(who)] who: Name,
        #[resolve(reason)] reason: Outcome<Name>,
        runs: Dep<Runs>,
    ) -> String {
        runs.count("delete");
        let reason = reason.map(|reason| reason.name);
        format!("{path} {} {} {reason:?}", confirm.yes, who.name)
    }

    /// Not `Clone`, hence behind a pointer.
    mod shared {
        use super::*;

        #[resolver]
        pub(super) fn confirm(#[resolve(super::confirm)] confirm: &Confirm) -> Arc<u8> {
            Arc::new(confirm.yes.into())
        }
    }

    #[tool]
    fn nested(path: String, #[resolve(shared::confirm)] shared: Outcome<Arc<u8>>) -> String {
        format!("{path} {shared:?}")
    }

    fn client(runs: &Arc<Runs>) -> Client {
        Client::new(
            Server::new("r", "1")
                .provide_shared(Arc::clone(runs))
                .tools(tools![delete, nested, optional, both, painted]),
        )
    }

    #[tool]
    fn optional(#[resolve(who)] who: Option<Name>) -> String {
        format!("{who:?}")
    }

    #[tokio::test]
    async fn independent_questions_go_out_together_and_dependent_ones_after_them() {
        let runs = Arc::new(Runs::default());
        let client = client(&runs)
            .answer("confirm", Confirm { yes: true })
            .answer("user_name", ada())
            .answer("reason", Name { name: "old".into() });
        let reply = client.call("delete", json!({ "path": "a" })).await.unwrap();
        assert_eq!(reply.text(), "a true Ada Accepted(\"old\")");
        assert_eq!(reply.asked, [vec!["confirm", "user_name"], vec!["reason"]]);
        assert_eq!(
            (runs.of("who"), runs.of("delete")),
            (3, 1),
            "resolvers run in each round, the function in the last"
        );
        let reply = client.era(Era::Session).call("delete", json!({ "path": "a" })).await.unwrap();
        assert_eq!(reply.text(), "a true Ada Accepted(\"old\")");
        assert_eq!((runs.of("who"), runs.of("delete")), (4, 2), "on a session there is one round");
    }

    #[resolver]
    fn colour() -> Ask<Name> {
        Ask::user("Which colour?")
    }

    /// Waits for two answers and does not run before both are there.
    #[resolver]
    fn paint(#[resolve(who)] who: &Name, #[resolve(colour)] colour: &Name, runs: Dep<Runs>) -> String {
        runs.count("paint");
        format!("{} {}", colour.name, who.name)
    }

    #[tool]
    fn painted(#[resolve(paint)] paint: &String) -> String {
        paint.clone()
    }

    #[tokio::test]
    async fn questions_below_one_resolver_go_out_together() {
        let runs = Arc::new(Runs::default());
        let red = || Name { name: "red".into() };
        in_both_eras(client(&runs).answer("user_name", ada()).answer("colour", red()), async |client| {
            let reply = client.call("painted", json!({})).await.unwrap();
            assert_eq!(reply.text(), "red Ada");
            assert_eq!(reply.asked.concat(), ["user_name", "colour"]);
        })
        .await;
        assert_eq!((runs.of("who"), runs.of("paint")), (3, 2), "it ran once on each");
        let client = client(&runs).answer("user_name", ada()).answer("colour", red());
        assert_eq!(client.call("painted", json!({})).await.unwrap().asked, [["user_name", "colour"]]);
    }

    #[tokio::test]
    async fn what_is_known_is_not_asked() {
        let runs = Arc::new(Runs::default());
        let client = client(&runs).answer("user_name", ada()).decline("reason");
        in_both_eras(client, async |client| {
            let reply = client.call("delete", json!({ "path": "empty" })).await.unwrap();
            assert_eq!(reply.text(), "empty true Ada Declined");
            assert!(!reply.asked.concat().contains(&"confirm".to_owned()));
        })
        .await;
    }

    #[tokio::test]
    async fn declining_ends_the_call_where_the_value_is_needed() {
        let runs = Arc::new(Runs::default());
        let client = client(&runs).decline("confirm").answer("user_name", ada()).answer("reason", ada());
        in_both_eras(client.clone(), async |client| {
            let reply = client.call("delete", json!({ "path": "a" })).await.unwrap();
            assert!(reply.is_error());
            assert_eq!(reply.text(), "the user declined what `confirm` needs, so nothing was done");
            let reply = client.call("nested", json!({ "path": "a" })).await.unwrap();
            assert_eq!(reply.text(), "the user declined what `confirm` needs, so nothing was done");
        })
        .await;
        let reply = client.call("delete", json!({ "path": "a" })).await.unwrap();
        assert_eq!(reply.asked, [["confirm", "user_name"]], "a decline beats what is still open");
        let client = client.cancel("confirm");
        let reply = client.call("delete", json!({ "path": "a" })).await.unwrap();
        assert_eq!(reply.text(), "the user went away without answering what `confirm` needs, so nothing was done");
        assert_eq!(runs.of("delete"), 0);
    }

    #[tokio::test]
    async fn declining_is_none_where_the_value_is_optional() {
        let runs = Arc::new(Runs::default());
        in_both_eras(client(&runs).decline("user_name"), async |client| {
            assert_eq!(client.call("optional", json!({})).await.unwrap().text(), "None");
        })
        .await;
        let reply = client(&runs).answer("user_name", ada()).call("optional", json!({})).await.unwrap();
        assert_eq!(reply.text(), "Some(Name { name: \"Ada\" })");
    }

    #[tokio::test]
    async fn a_failure_beats_what_is_still_open() {
        let runs = Arc::new(Runs::default());
        let client = client(&runs).answer("user_name", ada()).answer("reason", ada());
        in_both_eras(client.clone(), async |client| {
            let reply = client.call("delete", json!({ "path": "" })).await.unwrap();
            assert_eq!((reply.text().as_str(), reply.is_error()), ("say which folder", true));
        })
        .await;
        assert!(client.call("delete", json!({ "path": "" })).await.unwrap().asked.is_empty());
        assert_eq!(runs.of("delete"), 0);
    }

    #[tool]
    fn both(path: String, #[resolve(confirm)] one: &Confirm, #[resolve(confirming::confirm)] two: &Name) -> String {
        format!("{path} {} {}", one.yes, two.name)
    }

    mod confirming {
        use super::*;

        #[resolver]
        pub(super) fn confirm() -> Ask<Name> {
            Ask::user("Name it.")
        }
    }

    #[tokio::test]
    async fn resolvers_of_one_name_ask_under_numbered_keys() {
        let runs = Arc::new(Runs::default());
        let client = client(&runs).answer("confirm", Confirm { yes: false }).answer("confirm#1", ada());
        in_both_eras(client, async |client| {
            let reply = client.call("both", json!({ "path": "a" })).await.unwrap();
            assert_eq!(reply.text(), "a false Ada");
            assert_eq!(reply.asked.concat(), ["confirm", "confirm#1"]);
        })
        .await;
    }
}

mod failing {
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
}

mod prompts_and_resources {
    use super::*;

    #[resolver]
    fn to(subject: &str) -> Ask<Name> {
        Ask::user(format!("Who gets {subject}?"))
    }

    #[prompt]
    fn letter(subject: String, #[resolve(to)] to: Name) -> String {
        format!("Write to {} about {subject}", to.name)
    }

    #[resource("letters://{subject}")]
    async fn sent(subject: String, #[resolve(to)] to: &Name) -> String {
        format!("{subject} to {}", to.name)
    }

    struct Desk(&'static str);

    #[group]
    impl Desk {
        /// On a value, with a resolver beside it.
        #[tool]
        async fn post(&self, subject: String, #[resolve(to)] to: Name) -> String {
            format!("{}: {subject} to {}", self.0, to.name)
        }

        #[resolver]
        fn stamp(&self, subject: &str) -> String {
            format!("{} {subject}", self.0)
        }

        #[resolver]
        async fn twice(#[resolve(Self::stamp)] stamp: &String, #[resolve(to)] to: &Name) -> String {
            format!("{stamp} {stamp} {}", to.name)
        }

        /// With resolvers of its own.
        #[tool]
        fn stamped(
            subject: String,
            #[resolve(Self::twice)] twice: String,
            #[resolve(Self::stamp)] stamp: &String,
        ) -> String {
            format!("{subject}: {twice}, {stamp}")
        }
    }

    #[tokio::test]
    async fn they_have_resolvers_too() {
        let server = Server::new("r", "1")
            .tools(Arc::new(Desk("oak")).tools())
            .prompts(prompts![letter])
            .resources(resources![sent]);
        in_both_eras(Client::new(server).answer("to", ada()), async |client| {
            assert_eq!(
                client.get("letter", json!({ "subject": "tea" })).await.unwrap().text(),
                "Write to Ada about tea"
            );
            assert_eq!(client.read("letters://tea").await.unwrap().text(), "tea to Ada");
            assert_eq!(client.call("post", json!({ "subject": "tea" })).await.unwrap().text(), "oak: tea to Ada");
            let reply = client.call("stamped", json!({ "subject": "tea" })).await.unwrap();
            assert_eq!(reply.text(), "tea: oak tea oak tea Ada, oak tea");
        })
        .await;
    }

    #[tokio::test]
    async fn who_cannot_be_asked_is_told() {
        let client = Client::new(Server::new("r", "1").prompts(prompts![letter]));
        let error = client.get("letter", json!({ "subject": "tea" })).await.unwrap_err();
        assert_eq!(error.rpc().map(|error| error.code), Some(-32021));
    }
}
