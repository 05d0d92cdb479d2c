//! Resources: texts, bytes, JSON, and templates of many.

use rejoinder::{prelude::*, testing::Client};
use serde_json::json;

#[resource("text://plain")]
async fn plain() -> &'static str {
    "plain"
}

#[resource("bytes://logo", mime_type = "image/png")]
async fn logo() -> Vec<u8> {
    vec![0x89, 0x50, 0, 0xff]
}

#[resource("bytes://raw")]
async fn raw() -> Blob<&'static [u8]> {
    Blob(&[1, 2, 3])
}

#[resource("json://numbers")]
async fn numbers() -> Json<Vec<u8>> {
    Json(vec![1, 2])
}

#[resource("user://{id}/posts{?limit}")]
async fn posts(id: u32, #[arg(default = 10)] limit: u8) -> String {
    format!("{limit} posts of {id}")
}

#[resource("file:///{+path}", mime_type = "text/x-rust")]
async fn file(path: String) -> Result<String, CallError> {
    if path.contains("..") { Err(CallError::new("stay below the project folder")) } else { Ok(path) }
}

#[resource("page://{name}")]
async fn page(name: String) -> String {
    name
}

#[resource("rows://all?kind=a{&page}")]
async fn rows(page: Option<u32>) -> String {
    format!("{page:?}")
}

/// The one user who has a page of their own.
#[resource("user://1/posts")]
async fn first() -> &'static str {
    "the first user"
}

fn client() -> Client {
    let resources = resources![plain, logo, raw, numbers, posts, file, page, rows, first];
    Client::new(Server::new("resources", "1").resources(resources))
}

#[tokio::test]
async fn contents_have_their_uri_and_mime_type() {
    for (uri, expected) in [
        ("text://plain", json!([{ "uri": "text://plain", "mimeType": "text/plain", "text": "plain" }])),
        ("bytes://logo", json!([{ "uri": "bytes://logo", "mimeType": "image/png", "blob": "iVAA/w==" }])),
        ("bytes://raw", json!([{ "uri": "bytes://raw", "mimeType": "application/octet-stream", "blob": "AQID" }])),
        ("json://numbers", json!([{ "uri": "json://numbers", "mimeType": "application/json", "text": "[1,2]" }])),
        ("file:///a/b.rs", json!([{ "uri": "file:///a/b.rs", "mimeType": "text/x-rust", "text": "a/b.rs" }])),
    ] {
        let result = client().request("resources/read", json!({ "uri": uri })).await.unwrap();
        assert_eq!(result["contents"], expected);
    }
    assert_eq!(client().read_resource("bytes://logo").await.unwrap().bytes(), [0x89, 0x50, 0, 0xff]);
}

#[tokio::test]
async fn a_template_reads_its_variables_into_the_parameters() {
    let client = client();
    assert_eq!(client.read_resource("user://7/posts").await.unwrap().text(), "10 posts of 7");
    assert_eq!(client.read_resource("user://7/posts?limit=3").await.unwrap().text(), "3 posts of 7");
    assert_eq!(client.read_resource("file:///a%20b").await.unwrap().text(), "a b");
    assert_eq!(client.read_resource("rows://all?kind=a").await.unwrap().text(), "None");
    assert_eq!(client.read_resource("rows://all?kind=a&page=2").await.unwrap().text(), "Some(2)");
}

#[tokio::test]
async fn a_variable_matches_within_one_segment() {
    assert_eq!(client().read_resource("page://a%20b").await.unwrap().text(), "a b");
    for uri in ["page://..%2F..%2Fetc%2Fpasswd", "page://..%5Cetc", "page://%2E%2E", "page://..", "page://%2Fetc"] {
        assert_eq!(client().read_resource(uri).await.unwrap_err().code(), Some(-32602), "{uri}");
    }
    let anything = client().read_resource("file:///..%2Fetc").await.unwrap_err();
    assert!(anything.to_string().contains("stay below the project folder"), "{anything}");
}

#[tokio::test]
async fn a_resource_takes_precedence_over_a_template() {
    assert_eq!(client().read_resource("user://1/posts").await.unwrap().text(), "the first user");
}

#[tokio::test]
async fn an_unknown_uri_is_refused_with_the_uri() {
    let too_long = format!("user://{}/posts", "1".repeat(10_000));
    for uri in
        ["text://none", "user://ada/posts", "user://7", "user://7/posts?limit=many", "user://7/posts?x=1", &too_long]
    {
        let error = client().read_resource(uri).await.unwrap_err();
        assert_eq!(error.code(), Some(-32602), "{uri}");
        assert_eq!(error.rpc().unwrap().data, Some(json!({ "uri": uri })));
    }
    assert_eq!(client().request("resources/read", json!({})).await.unwrap_err().code(), Some(-32602));
}

#[tokio::test]
async fn resources_and_templates_have_separate_lists() {
    let uris: Vec<_> = client().list_resources().await.unwrap().iter().map(|resource| resource.uri.clone()).collect();
    assert_eq!(uris, ["text://plain", "bytes://logo", "bytes://raw", "json://numbers", "user://1/posts"]);
    let templates = client().list_resource_templates().await.unwrap();
    assert_eq!(templates[0].uri_template, "user://{id}/posts{?limit}");
    assert_eq!(templates[1].mime_type.as_deref(), Some("text/x-rust"));
}
