//! Questions without a form type: a choice, a text, a confirmation, a form made at run time.

use rejoinder::{
    form::{ConfirmForm, Field, Form, FormErrors, TextForm},
    testing::ClientAnswer,
};
use serde_json::Value;

use super::*;

/// A choice of a list that is known only when the question is asked.
#[tool]
async fn branch(branches: Vec<String>, ctx: Context) -> Result<String, CallError> {
    let titled = branches.iter().map(|name| (name.clone(), format!("The branch {name}")));
    ctx.ask("branch", Ask::choice("Which branch?", titled)).await
}

#[tool]
async fn rename(ctx: Context) -> Result<String, CallError> {
    let to = ctx.ask("to", Ask::text("What is the new name?")).await?;
    let sure = ctx.ask("sure", Ask::confirm(format!("Really {to}?"))).await?;
    Ok(format!("{to} {sure}"))
}

fn client() -> Client {
    Client::new(Server::new("choices", "1.0.0").tools(tools![branch, rename]))
}

fn chosen(choice: &str) -> Value {
    json!({ "action": "accept", "content": { "choice": choice } })
}

#[tokio::test]
async fn a_test_without_an_answer_gets_one_suggested() {
    in_both_eras(Client::new(Server::new("choices", "1.0.0").tools(tools![ask_for])), async |client| {
        for (kind, remedy) in [
            ("choice", r#".answer_with("it", json!({ "action": "accept", "content": { .. } }))"#),
            ("text", r#".answer("it", rejoinder::form::TextForm { text: "..".into() })"#),
            ("confirm", r#".answer("it", rejoinder::form::ConfirmForm { yes: true })"#),
            ("form", r#".answer_with("it", json!({ "action": "accept", "content": { .. } }))"#),
            ("name", r#".answer("it", ..)"#),
            ("visit", r#".answer_with("it", json!({ "action": "accept" }))"#),
            ("roots", r#".answer_with("it", json!(..))"#),
            ("sample", r#".answer_with("it", json!(..))"#),
        ] {
            let error = client.call_tool("ask_for", json!({ "kind": kind })).await.unwrap_err();
            let error_text = error.to_string();
            assert!(error_text.contains(&format!("the test has no answer: add `{remedy}`")), "{error_text}");
        }
    })
    .await;
}

/// Of each kind of question that has no form type.
#[tokio::test]
async fn an_answer_in_json_is_accepted() {
    let answers = [
        ("choice", json!({"action":"accept","content":{"choice":"main"}})),
        ("form", json!({"action":"accept","content":{"width":1,"colour":"red"}})),
        ("visit", json!({"action":"accept"})),
        ("roots", json!({"roots":[{"uri":"file:///.."}]})),
        ("sample", json!({"role":"assistant","content":{"type":"text","text":".."},"model":".."})),
    ];
    for (kind, answer) in answers {
        let client = Client::new(Server::new("choices", "1.0.0").tools(tools![ask_for])).answer_with("it", answer);
        in_both_eras(client, async |client| {
            assert_eq!(client.call_tool("ask_for", json!({ "kind": kind })).await.unwrap().text(), "answered");
        })
        .await;
    }
}

/// Asks a question of that kind.
#[tool]
async fn ask_for(kind: String, ctx: Context) -> Result<&'static str, CallError> {
    let form = || {
        let colour = Field::<String>::new("colour").one_of(["red", "blue"]);
        Form::new().with(&Field::<u32>::new("width").min(1_u32)).with(&colour)
    };
    let asked = match kind.as_str() {
        "choice" => {
            ctx.ask("it", Ask::choice("Which?", [("main", "The main one"), ("next", "Next")])).await.map(|_| ())
        }
        "text" => ctx.ask("it", Ask::text("What?")).await.map(|_| ()),
        "confirm" => ctx.ask("it", Ask::confirm("Sure?")).await.map(|_| ()),
        "form" => ctx.ask("it", Ask::dynamic_form("How?", form(), |_| Ok(()))).await,
        "name" => ctx.ask("it", Ask::<Name>::user("Who?")).await.map(|_| ()),
        "visit" => ctx.ask("it", Ask::url("https://example.com/", "Look there")).await.map(|_| ()),
        "roots" => ctx.ask("it", Ask::roots()).await.map(|_| ()),
        _ => ctx.ask("it", Ask::sample(Sampling::new("A haiku, please.").max_tokens(50))).await.map(|_| ()),
    };
    asked?;
    Ok("answered")
}

#[tokio::test]
async fn only_values_of_the_list_are_accepted() {
    let arguments = json!({ "branches": ["main", "next"] });
    in_both_eras(client(), async |client| {
        let reply =
            client.clone().answer_with("branch", chosen("next")).call_tool("branch", arguments.clone()).await.unwrap();
        assert_eq!((reply.text().as_str(), reply.is_error()), ("next", false));
        assert_eq!(reply.asked, [["branch"]]);
        // Not a value outside the list, and not a title instead of the value.
        for foreign in ["gone", "The branch next", ""] {
            let client = client.clone().answer_with("branch", chosen(foreign));
            let reply = client.call_tool("branch", arguments.clone()).await.unwrap();
            assert!(reply.text().starts_with("the client sent no usable answer to `branch`: "), "{}", reply.text());
            assert_eq!(reply.asked.len(), 3, "it was asked again");
        }
        let declined = client.decline("branch").call_tool("branch", arguments.clone()).await.unwrap();
        assert_eq!(declined.text(), "the user declined `branch`");
    })
    .await;
}

#[tokio::test]
async fn the_list_is_sent_with_its_titles() {
    let client = client().answer_with("branch", chosen("next"));
    let params = json!({ "name": "branch", "arguments": { "branches": ["main", "next"] } });
    let asked = client.request("tools/call", params).await.unwrap();
    let schema = &asked["inputRequests"]["branch"]["params"]["requestedSchema"];
    let titled =
        json!([{ "const": "main", "title": "The branch main" }, { "const": "next", "title": "The branch next" }]);
    assert_eq!((&schema["properties"]["choice"]["oneOf"], &schema["required"]), (&titled, &json!(["choice"])));
}

#[tokio::test]
async fn a_text_and_a_confirmation() {
    let client = client().answer("to", TextForm { text: "trunk".into() }).answer("sure", ConfirmForm { yes: true });
    in_both_eras(client, async |client| {
        let reply = client.call_tool("rename", json!({})).await.unwrap();
        assert_eq!(reply.text(), "trunk true");
        assert_eq!(reply.asked, [["to"], ["sure"]]);
    })
    .await;
}

/// As many numbers as there are columns.
#[tool]
async fn row(columns: Vec<String>, ctx: Context) -> Result<String, CallError> {
    let fields: Vec<Field<f64>> = columns.into_iter().map(|column| Field::new(column).min(0.0)).collect();
    let form = fields.iter().fold(Form::new(), |form, field| form.with(field));
    let ask = Ask::dynamic_form("The next row?", form, move |content| {
        let mut errors = FormErrors::default();
        let row: Vec<Option<f64>> = fields.iter().map(|field| field.read(content, &mut errors)).collect();
        row.into_iter().collect::<Option<Vec<f64>>>().ok_or(errors)
    });
    Ok(format!("{:?}", ctx.ask("row", ask).await?))
}

#[tokio::test]
async fn a_form_that_is_made_at_run_time_is_checked_like_any_other() {
    let client = Client::new(Server::new("table", "1").tools(tools![row]));
    let filled = |content: Value| ClientAnswer::with(json!({ "action": "accept", "content": content }));
    in_both_eras(client, async |client| {
        let client = client
            .answers("row", [json!({ "a": 1, "b": -2 }), json!({ "a": 1, "b": 0.945_270_695_553_922_3 })].map(filled));
        let reply = client.call_tool("row", json!({ "columns": ["a", "b"] })).await.unwrap();
        assert_eq!(reply.text(), "[1.0, 0.9452706955539223]");
        assert_eq!(reply.asked, [["row"], ["row"]]);
    })
    .await;
}

#[derive(Clone, Debug, PartialEq)]
struct Order {
    id: u32,
    item: &'static str,
}

fn orders(items: &[&'static str]) -> Vec<Order> {
    (1..).zip(items).map(|(id, item)| Order { id, item }).collect()
}

/// Chooses one of a list, as a value of its own type.
#[tool]
async fn choose_order(ctx: Context) -> Result<String, CallError> {
    let question = Ask::choice_of("Which?", orders(&["tea", "milk"]), |order| (order.id.to_string(), order.item));
    ctx.ask("order", question).await.map(|order| order.item.to_owned())
}

/// Chooses several.
#[tool]
async fn choose_orders(ctx: Context) -> Result<String, CallError> {
    let question = Ask::choices_of("Which?", orders(&["tea", "milk", "salt"]), |order| order.id.to_string());
    let chosen = ctx.ask("orders", question).await?;
    Ok(chosen.iter().map(|order| order.item).collect::<Vec<_>>().join(" "))
}

/// Two items with one value.
#[tool]
async fn choose_twice(ctx: Context) -> Result<String, CallError> {
    ctx.ask("order", Ask::choice_of("Which?", ["a", "a"], |item| *item)).await.map(str::to_owned)
}

#[tokio::test]
async fn a_choice_at_run_time_gives_items_of_any_type() {
    let client = Client::new(Server::new("orders", "1.0.0").tools(tools![choose_order, choose_orders, choose_twice]));
    let accept = |content: Value| json!({ "action": "accept", "content": content });
    in_both_eras(client, async |client| {
        for (tool, key, answer, expected) in [
            ("choose_order", "order", json!({ "choice": "2" }), "milk"),
            (
                "choose_order",
                "order",
                json!({ "choice": "milk" }),
                "the client sent no usable answer to `order`: `choice` must be one of `1`, `2`",
            ),
            ("choose_orders", "orders", json!({ "choices": ["3", "1"] }), "salt tea"),
            ("choose_orders", "orders", json!({ "choices": [] }), ""),
            (
                "choose_orders",
                "orders",
                json!({ "choices": ["4"] }),
                "the client sent no usable answer to `orders`: `choices` must be a list of any of `1`, `2`, `3`",
            ),
            (
                "choose_orders",
                "orders",
                json!({ "choices": ["1", "1"] }),
                "the client sent no usable answer to `orders`: `choices` must not have the same item twice",
            ),
            (
                "choose_twice",
                "order",
                json!({ "choice": "a" }),
                "two items of a choice have the same value: give each its own",
            ),
        ] {
            let client = client.clone().answer_with(key, accept(answer));
            assert_eq!(client.call_tool(tool, json!({})).await.unwrap().text(), expected, "{tool}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_choice_of_several_is_shown_as_a_list() {
    let client = Client::new(Server::new("orders", "1.0.0").tools(tools![choose_orders])).decline("orders");
    let asked = client.request("tools/call", json!({ "name": "choose_orders", "arguments": {} })).await.unwrap();
    assert_eq!(
        asked["inputRequests"]["orders"]["params"]["requestedSchema"],
        json!({
            "type": "object",
            "properties": { "choices": { "type": "array", "items": { "type": "string", "enum": ["1", "2", "3"] } } },
            "required": ["choices"],
        }),
    );
}
