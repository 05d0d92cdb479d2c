//! Long lists come in pages.

use rejoinder::{Prompt, Resource, Tool, call::Era, model, prelude::*, testing::Client};
use serde_json::{Value, json};

#[prompt]
async fn one() -> &'static str {
    "1"
}

#[prompt]
async fn two() -> &'static str {
    "2"
}

#[prompt]
async fn three() -> &'static str {
    "3"
}

#[resource("text://x")]
async fn text() -> &'static str {
    "text"
}

#[resource("many://x/{id}")]
async fn many(id: String) -> String {
    id
}

fn tools() -> Vec<Tool> {
    let tool = |name| Tool::dynamic(model::Tool::new(name, "", model::JsonObject::new()), |_, _| async {});
    ["a", "b", "c", "d", "e"].map(tool).into()
}

fn prompts() -> Vec<Prompt> {
    prompts![one, two, three]
}

fn resources() -> Vec<Resource> {
    let texts = (0..5).map(|number| resources![text].remove(0).at(format!("text://{number}")));
    let templates = (0..5).map(|number| resources![many].remove(0).at(format!("many://{number}/{{id}}")));
    texts.zip(templates).flat_map(<[Resource; 2]>::from).collect()
}

fn server() -> Server {
    Server::new("long", "1").tools(tools()).prompts(prompts()).resources(resources()).page_size(2)
}

const LISTS: [(&str, &str, &str, usize); 4] = [
    ("tools/list", "tools", "name", 5),
    ("prompts/list", "prompts", "name", 3),
    ("resources/list", "resources", "uri", 5),
    ("resources/templates/list", "resourceTemplates", "uriTemplate", 5),
];

#[tokio::test]
async fn the_pages_of_a_list_have_each_item_once_and_in_order() {
    let client = Client::new(server());
    let whole = Client::new(server().page_size(1000));
    for (method, field, key, count) in LISTS {
        let (mut names, mut params) = (Vec::new(), json!({}));
        loop {
            let page = client.request(method, params).await.unwrap();
            let items = page[field].as_array().unwrap();
            assert!((1..=2).contains(&items.len()), "{method}");
            names.extend(items.iter().map(|item| item[key].clone()));
            match page.get("nextCursor") {
                Some(cursor) => params = json!({ "cursor": cursor }),
                None => break,
            }
        }
        let all = whole.request(method, json!({})).await.unwrap();
        let all: Vec<Value> = all[field].as_array().unwrap().iter().map(|item| item[key].clone()).collect();
        assert_eq!(names, all, "{method}");
        assert_eq!(names.len(), count, "{method}");
    }
}

#[tokio::test]
async fn the_client_follows_all_pages() {
    let client = Client::new(server());
    assert_eq!(client.list_tools().await.unwrap().len(), 5);
    assert_eq!(client.list_prompts().await.unwrap().len(), 3);
    assert_eq!(client.list_resources().await.unwrap().len(), 5);
    assert_eq!(client.list_resource_templates().await.unwrap().len(), 5);
}

#[tokio::test]
async fn a_foreign_cursor_is_refused() {
    let client = Client::new(server());
    let elsewhere = client.request("tools/list", json!({})).await.unwrap()["nextCursor"].clone();
    for (method, ..) in LISTS {
        for cursor in [json!("nonsense"), json!(""), json!("!"), json!(3), json!({})] {
            let error = client.request(method, json!({ "cursor": cursor })).await.unwrap_err();
            assert_eq!(error.code(), Some(-32602), "{method} {cursor}");
        }
        let taken = client.request(method, json!({ "cursor": elsewhere })).await;
        assert_eq!(taken.is_ok(), method == "tools/list", "a cursor belongs to its list: {method}");
    }
}

#[tokio::test]
async fn an_empty_list_is_one_empty_page() {
    let client = Client::new(Server::new("empty", "1").tools([]).prompts([]).resources([]));
    for (method, field, ..) in LISTS {
        let page = client.request(method, json!({})).await.unwrap();
        assert_eq!((&page[field], page.get("nextCursor")), (&json!([]), None), "{method}");
    }
}

#[tokio::test]
async fn a_cursor_stays_valid_while_other_items_change() {
    let client = Client::new(server());
    let cursor = client.request("tools/list", json!({})).await.unwrap()["nextCursor"].clone();
    client.server().handle().remove_tool("e");
    let second = client.request("tools/list", json!({ "cursor": cursor })).await.unwrap();
    assert_eq!((&second["tools"][0]["name"], &second["tools"][1]["name"]), (&json!("c"), &json!("d")));
    assert_eq!(second.get("nextCursor"), None);
}

#[tokio::test]
async fn a_cursor_is_valid_while_its_item_exists() {
    let client = Client::new(server());
    let session = client.clone().era(Era::Session);
    let cursor = client.request("tools/list", json!({})).await.unwrap()["nextCursor"].clone();
    let handle = client.server().handle();
    let page = async |client: &Client| client.request("tools/list", json!({ "cursor": cursor })).await;

    handle.remove_tool("a");
    for client in [&client, &session] {
        let second = page(client).await.unwrap();
        assert_eq!((&second["tools"][0]["name"], &second["tools"][1]["name"]), (&json!("c"), &json!("d")));
        let third = client.request("tools/list", json!({ "cursor": second["nextCursor"] })).await.unwrap();
        assert_eq!((&third["tools"][0]["name"], third.get("nextCursor")), (&json!("e"), None));
    }
    assert_eq!(page(&client).await.unwrap()["resultType"], "complete");

    handle.remove_tool("b");
    for client in [&client, &session] {
        assert_eq!(page(client).await.unwrap_err().code(), Some(-32602), "nobody knows where it was");
    }
}
