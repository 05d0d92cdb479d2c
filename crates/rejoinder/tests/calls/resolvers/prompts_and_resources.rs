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

#[handlers]
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
            client.get_prompt("letter", json!({ "subject": "tea" })).await.unwrap().text(),
            "Write to Ada about tea"
        );
        assert_eq!(client.read_resource("letters://tea").await.unwrap().text(), "tea to Ada");
        assert_eq!(client.call_tool("post", json!({ "subject": "tea" })).await.unwrap().text(), "oak: tea to Ada");
        let reply = client.call_tool("stamped", json!({ "subject": "tea" })).await.unwrap();
        assert_eq!(reply.text(), "tea: oak tea oak tea Ada, oak tea");
    })
    .await;
}

#[tokio::test]
async fn a_client_that_cannot_be_asked_gets_an_error() {
    let client = Client::new(Server::new("r", "1").prompts(prompts![letter]));
    let error = client.get_prompt("letter", json!({ "subject": "tea" })).await.unwrap_err();
    assert_eq!(error.rpc().map(|error| error.code), Some(-32021));
}
