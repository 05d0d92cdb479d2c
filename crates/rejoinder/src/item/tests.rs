//! What the macros make of functions: records, reading of arguments, and the call itself.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use crate::{
    argument::{SentArguments, UnknownArguments},
    call::Dependencies,
    reply::{FunctionOutput, Output},
    request::RequestInfo,
};
use rejoinder::{Call, FromCall, Tool, prelude::*};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Size {
    Small,
    Large,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Line {
    /// What to buy
    item: String,
    quantity: u8,
    note: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Receipt {
    total: u32,
    to: Option<String>,
}

/// Places an order.
///
/// It is paid at once.
#[tool(title = "Order", destructive = false, icon(src = "https://example.com/a.png", sizes = "48x48 96x96"))]
async fn order(
    /// What to order
    lines: Vec<Line>,
    size: Size,
    #[arg(default = Size::Small)] wrapping: Size,
    /// A coupon
    /// code
    #[arg(name = "coupon-code", header = "Coupon")]
    coupon: Option<String>,
    mut r#type: Option<u8>,
    ctx: Context,
) -> Result<Json<Receipt>, CallError> {
    ctx.info("ordering").await;
    r#type = r#type.or(Some(1));
    let total = lines.iter().map(|line| u32::from(line.quantity)).sum::<u32>() * u32::from(r#type.unwrap_or(0));
    let to = lines.into_iter().find_map(|line| line.note.or(Some(line.item)));
    let to = to.map(|to| format!("{to} {size:?} {wrapping:?} {coupon:?}"));
    Ok(Json(Receipt { total, to }))
}

#[tool(name = "plus", read_only)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

struct Log(AtomicU32);

/// The tenant that the gateway names.
struct Tenant(String);

impl FromCall for Tenant {
    async fn from_call(call: &Call, parameter: &'static str) -> Result<Self, CallError> {
        let tenant = call.header("x-tenant").map(|tenant| Self(tenant.to_owned()));
        tenant.ok_or_else(|| CallError::new(format!("no {parameter}")))
    }
}

#[tool]
async fn whoami(tenant: Tenant, log: Dep<Log>) -> String {
    log.0.fetch_add(1, Ordering::Relaxed);
    tenant.0
}

async fn call(tool: &Tool, arguments: Value) -> Value {
    call_in(tool, arguments, Call::detached()).await
}

/// Calls a tool as the server does.
async fn call_in(tool: &Tool, arguments: Value, call: Call) -> Value {
    let json = arguments.to_string();
    let sent = SentArguments::from_json(&json).expect("an object");
    let run = match tool.function.read(&sent, UnknownArguments::Refused, &call) {
        Ok(run) => run,
        Err(bad) => return Value::String(bad.to_string()),
    };
    match run.await {
        Ok(FunctionOutput::Done(Output::Tool(reply))) => {
            reply.structured_content.unwrap_or_else(|| json!(reply.content[0].as_text().map(|t| &t.text)))
        }
        Ok(other) => panic!("not a tool's result: {other:?}"),
        Err(halt) => json!({ "error": halt.into_error().expect("nothing is asked").to_string() }),
    }
}

#[test]
fn a_record_shows_what_the_author_wrote() {
    insta::assert_json_snapshot!(tools![order][0].record());
}

#[test]
fn a_renamed_tool_keeps_its_function() {
    let tools = tools![add];
    assert_eq!(tools[0].name(), "plus");
    assert_eq!(add(1, 2), 3);
}

#[tokio::test]
async fn arguments_are_read_and_defaults_filled_in() {
    let order = &tools![order][0];
    let lines = json!([{ "item": "tea", "quantity": 2 }, { "item": "cup", "quantity": 1 }]);
    assert_eq!(
        call(order, json!({ "size": "large", "lines": lines })).await,
        json!({ "total": 3, "to": "tea Large Small None" }),
    );
    let all = json!({ "type": 2, "coupon-code": "x", "wrapping": "large", "size": "small", "lines": lines });
    assert_eq!(call(order, all).await, json!({ "total": 6, "to": "tea Small Large Some(\"x\")" }));
    assert_eq!(call(&tools![add][0], json!({ "b": 2, "a": 1 })).await, json!({ "result": 3 }));
}

#[tool]
fn tag(#[arg(default)] words: Vec<String>, #[arg(default, header = "Times")] times: u8) -> String {
    format!("{words:?} {times}")
}

#[tokio::test]
async fn a_default_without_a_value_is_that_of_the_type() {
    let tag = tools![tag].remove(0);
    assert_eq!(call(&tag, json!({})).await, "[] 0");
    assert_eq!(call(&tag, json!({ "times": 2 })).await, "[] 2");
    let schema = &tag.record().input_schema;
    assert_eq!(
        (&schema["properties"]["words"]["default"], &schema["properties"]["times"]["default"]),
        (&json!([]), &json!(0))
    );
}

#[tool]
fn wait(#[arg(default = f64::INFINITY)] seconds: f64, #[arg(default = 3)] times: u8) -> String {
    format!("{seconds} {times}")
}

#[tokio::test]
async fn a_default_that_json_cannot_show_is_one_all_the_same() {
    let wait = tools![wait].remove(0);
    assert_eq!(call(&wait, json!({})).await, "inf 3");
    let schema = &wait.record().input_schema;
    assert_eq!(schema["properties"]["seconds"], json!({ "type": "number" }));
    assert_eq!(schema["properties"]["times"]["default"], 3);
    assert_eq!(schema["required"], json!([]));
}

#[tokio::test]
async fn all_invalid_arguments_are_reported_together() {
    let order = &tools![order][0];
    let lines = json!([{ "item": "tea", "quantity": 300 }]);
    let reported = [
        call(order, json!({ "lines": lines, "size": "huge", "ctx": 1, "coupon": "x" })).await,
        call(order, json!({ "lines": [], "type": "first" })).await,
        call(&tools![add][0], json!({ "a": 1, "b": 2, "c": 3 })).await,
        call(&tools![whoami][0], json!({ "tenant": "me" })).await,
    ];
    insta::assert_snapshot!(reported.map(|errors| errors.as_str().unwrap_or("no errors").to_owned()).join("\n\n"));
}

#[tokio::test]
async fn what_the_call_supplies_is_not_an_argument() {
    let whoami = &tools![whoami][0];
    assert_eq!(whoami.record().input_schema["properties"], json!({}));
    let needs: Vec<_> = whoami.function.needs().into_iter().map(|(parameter, need)| (parameter, need.name)).collect();
    assert_eq!(needs, [("log", std::any::type_name::<Log>())]);

    let log = Arc::new(Log(AtomicU32::new(0)));
    let mut dependencies = Dependencies::default();
    dependencies.insert(Arc::clone(&log));
    let mut headers = http::HeaderMap::new();
    headers.insert("x-tenant", http::HeaderValue::from_static("acme"));
    let facts = RequestInfo { http: Some(Arc::new((headers, http::Extensions::new()))), ..RequestInfo::default() };
    assert_eq!(call_in(whoami, json!({}), Call::new(facts, Arc::new(dependencies), Arc::default())).await, "acme");
    assert_eq!(log.0.load(Ordering::Relaxed), 1);

    assert_eq!(call(whoami, json!({})).await, json!({ "error": "no tenant" }));
}

#[derive(Debug)]
struct Shop {
    sold: AtomicU32,
}

#[handlers]
impl Shop {
    /// Sells some.
    #[tool]
    async fn sell(&self, #[arg(default = 1)] count: u32) -> u32 {
        self.sold.fetch_add(count, Ordering::Relaxed) + count
    }

    #[tool]
    fn name() -> &'static str {
        "shop"
    }

    /// Praises an item.
    #[prompt(title = "Pitch")]
    fn pitch(
        &self,
        /** What to praise */
        item: String,
        times: Option<u8>,
        size: Option<Size>,
    ) -> String {
        format!("{item} {} {size:?}", times.unwrap_or(1))
    }

    #[resource("shop://items/{id}", mime_type = "text/plain", ttl_ms = 5000, public)]
    async fn item(&self, id: u32) -> Result<String, CallError> {
        Ok(format!("item {id} of {}", self.sold.load(Ordering::Relaxed)))
    }
}

#[tokio::test]
async fn a_group_shares_its_receiver() {
    let shop = Arc::new(Shop { sold: AtomicU32::new(0) });
    let tools = shop.tools();
    assert_eq!(tools.iter().map(Tool::name).collect::<Vec<_>>(), ["sell", "name"]);
    assert_eq!(call(&tools[0], json!({ "count": 2 })).await, json!({ "result": 2 }));
    assert_eq!(call(&tools[0], json!({})).await, json!({ "result": 3 }));
    assert_eq!(call(&tools[1], json!({})).await, "shop");
    assert_eq!(shop.sold.load(Ordering::Relaxed), 3);

    let item = &shop.resources()[0];
    let sent = SentArguments::from_texts([("id", "7")]);
    let run = item.function.read(&sent, UnknownArguments::Refused, &Call::detached()).expect("a number");
    let body = run.await.expect("an item");
    let FunctionOutput::Done(Output::Resource(body)) = body else { panic!("not a resource: {body:?}") };
    let contents = body.into_contents("shop://items/7", item.details().mime_type);
    assert_eq!(json!(contents), json!([{ "uri": "shop://items/7", "mimeType": "text/plain", "text": "item 7 of 3" }]));
}

#[tokio::test]
async fn prompts_and_resources_read_texts() {
    let shop = Arc::new(Shop { sold: AtomicU32::new(0) });
    let pitch = &shop.prompts()[0];
    insta::assert_json_snapshot!(pitch.record());
    assert_eq!(pitch.function.argument("size").expect("an argument").choices, ["small", "large"]);
    let texts = SentArguments::from_texts([("item", "42"), ("times", "3"), ("size", "large")]);
    let run = pitch.function.read(&texts, UnknownArguments::Refused, &Call::detached()).expect("texts");
    let reply = run.await.expect("a pitch");
    let FunctionOutput::Done(Output::Prompt(reply)) = reply else { panic!("not a prompt: {reply:?}") };
    assert_eq!(json!(reply.messages[0].content)["text"], "42 3 Some(Large)");

    let bad = pitch
        .function
        .read(&SentArguments::from_texts([("times", "many")]), UnknownArguments::Refused, &Call::detached())
        .err()
        .expect("not a number");
    assert_eq!(
        bad.to_string(),
        "Invalid arguments:\n- `item`: it is required and was not sent\n\
         - `times`: expected an integer, got the string \"many\""
    );

    let details = *shop.resources()[0].details();
    assert_eq!((details.name, details.ttl_ms, details.public), ("item", Some(5000), Some(true)));
}
