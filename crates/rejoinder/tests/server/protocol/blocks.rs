//! Content blocks that are neither text nor data: images, sounds, links to resources, and resources themselves.

use rejoinder::{
    model::{ContentBlock, EmbeddedResource, Resource, ResourceContents},
    prelude::*,
    reply::{Audio, Image},
    testing::Client,
};
use serde_json::{Value, json};

fn readme() -> Resource {
    let mut readme = Resource::new("text://readme", "readme");
    readme.mime_type = Some("text/markdown".to_owned());
    readme.description = Some("Read it first.".to_owned());
    readme
}

/// Where to look.
#[tool]
async fn link() -> Resource {
    readme()
}

/// A few words, and where to look.
#[tool]
async fn words_and_link() -> Vec<ContentBlock> {
    vec![ContentBlock::text("See there."), ContentBlock::ResourceLink(readme())]
}

/// The thing itself.
#[tool]
async fn embedded() -> EmbeddedResource {
    EmbeddedResource::new(ResourceContents::text("text://readme", "# Read me"))
}

#[tool]
async fn picture() -> Image {
    Image::new("image/png", b"\x89PNG\xFF")
}

#[tool]
async fn sound() -> Audio {
    Audio::new("audio/wav", b"RIFF\0")
}

/// All kinds in one reply.
#[tool]
async fn both() -> Vec<ContentBlock> {
    vec![ContentBlock::text("Look and listen."), picture().await.into(), sound().await.into()]
}

async fn content(tool: &str) -> Value {
    let tools = tools![link, words_and_link, embedded, picture, sound, both];
    let client = Client::new(Server::new("blocks", "1.0.0").tools(tools));
    let called = client.request("tools/call", json!({ "name": tool })).await.unwrap()["content"].clone();
    let session =
        client.era(rejoinder::call::Era::Session).request("tools/call", json!({ "name": tool })).await.unwrap();
    assert_eq!(called, session["content"], "the same in both eras");
    called
}

#[tokio::test]
async fn a_resource_that_a_tool_returns_is_a_link_to_it() {
    let link = json!({
        "type": "resource_link", "uri": "text://readme", "name": "readme",
        "mimeType": "text/markdown", "description": "Read it first.",
    });
    assert_eq!(content("link").await, json!([link]));
    assert_eq!(content("words_and_link").await, json!([{ "type": "text", "text": "See there." }, link]));
}

#[tokio::test]
async fn an_embedded_resource_comes_with_its_contents() {
    let content = content("embedded").await;
    assert_eq!(content[0]["type"], "resource");
    assert_eq!(content[0]["resource"]["uri"], "text://readme");
    assert_eq!(content[0]["resource"]["text"], "# Read me");
}

#[tokio::test]
async fn images_and_audio_are_base64_with_their_mime_type() {
    let picture = json!({ "type": "image", "data": "iVBOR/8=", "mimeType": "image/png" });
    let sound = json!({ "type": "audio", "data": "UklGRgA=", "mimeType": "audio/wav" });
    assert_eq!(content("picture").await, json!([picture]));
    assert_eq!(content("sound").await, json!([sound]));
    assert_eq!(content("both").await, json!([{ "type": "text", "text": "Look and listen." }, picture, sound]));
}
