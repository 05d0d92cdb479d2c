use rejoinder::prelude::*;
use serde_json::json;

use crate::PNG;

/// Text that never changes.
#[resource("test://static-text", mime_type = "text/plain")]
pub async fn static_text() -> &'static str {
    "This is the content of the static text resource."
}

/// Bytes that never change.
#[resource("test://static-binary", mime_type = "image/png")]
pub async fn static_binary() -> Blob<&'static [u8]> {
    Blob(PNG)
}

/// A resource template.
#[resource("test://template/{id}/data", mime_type = "application/json")]
pub async fn template(id: String) -> String {
    json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") }).to_string()
}

/// A resource that clients subscribe to.
#[resource("test://watched-resource", mime_type = "text/plain")]
pub async fn watched() -> &'static str {
    "Watched resource content."
}
