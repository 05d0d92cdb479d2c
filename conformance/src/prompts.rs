use rejoinder::{
    model::{ContentBlock, PromptMessage, ResourceContents, Role},
    prelude::*,
};

use crate::PNG;

/// A prompt without arguments.
#[prompt]
pub async fn test_simple_prompt() -> &'static str {
    "This is a simple prompt for testing."
}

/// A prompt with two arguments.
#[prompt]
pub async fn test_prompt_with_arguments(
    /// The first argument
    #[arg(complete = values)]
    arg1: String,
    /// The second argument
    arg2: String,
) -> String {
    format!("Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")
}

#[completion]
async fn values(typed: rejoinder::call::CompletionRequest) -> Vec<String> {
    ["test1", "test2", "other"].into_iter().filter(|value| value.starts_with(&typed.value)).map(Into::into).collect()
}

/// A resource inside a prompt.
#[prompt]
pub async fn test_prompt_with_embedded_resource(
    /// The URI of the resource
    #[arg(name = "resourceUri")]
    resource_uri: String,
) -> [PromptMessage; 2] {
    let resource = ResourceContents::text(resource_uri, "Embedded resource content for testing.");
    [
        PromptMessage::new(Role::User, ContentBlock::resource(resource)),
        PromptMessage::text(Role::User, "Please process the embedded resource above."),
    ]
}

/// An image inside a prompt.
#[prompt]
pub async fn test_prompt_with_image() -> [PromptMessage; 2] {
    [
        PromptMessage::new(Role::User, Image::new("image/png", PNG).into()),
        PromptMessage::text(Role::User, "Please analyze the image above."),
    ]
}

/// A prompt that is added and removed.
#[prompt]
pub async fn ephemeral() -> &'static str {
    "here"
}
