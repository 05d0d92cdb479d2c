use serde::{Deserialize, Serialize};

use crate::Other;

/// A program that speaks the protocol: a client or a server.
///
/// ```
/// use rejoinder_wire::Implementation;
/// use serde_json::json;
///
/// assert_eq!(json!(Implementation::new("shop", "1.0.0")), json!({ "name": "shop", "version": "1.0.0" }));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Implementation {
    /// Its name, for programs.
    pub name: String,
    /// Its name, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its version.
    pub version: String,
    /// What it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its pictures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icons: Option<Vec<Icon>>,
    /// Its home page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub website_url: Option<String>,
    /// Members that are not known here.
    #[serde(flatten)]
    pub other: Other,
}

impl Implementation {
    /// A program with this name and version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            version: version.into(),
            description: None,
            icons: None,
            website_url: None,
            other: Other::default(),
        }
    }
}

/// A picture of a program, a tool, a prompt or a resource.
///
/// ```
/// use rejoinder_wire::Icon;
///
/// let mut icon = Icon::new("https://shop.example/icon.png");
/// icon.sizes = Some(vec!["48x48".to_owned()]);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Icon {
    /// Its URI, which may be a `data:` URI.
    pub src: String,
    /// Its type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Its sizes, such as `48x48` or `any`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sizes: Option<Vec<String>>,
    /// The background that it is made for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub theme: Option<IconTheme>,
    /// Members that are not known here.
    #[serde(flatten)]
    pub other: Other,
}

impl Icon {
    /// The picture at this URI.
    pub fn new(src: impl Into<String>) -> Self {
        Self { src: src.into(), mime_type: None, sizes: None, theme: None, other: Other::default() }
    }
}

/// The background that a picture is made for.
///
/// ```
/// assert_eq!(serde_json::json!(rejoinder_wire::IconTheme::Dark), "dark");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum IconTheme {
    /// A light one.
    Light,
    /// A dark one.
    Dark,
    /// One that is not known here.
    #[serde(untagged)]
    Other(String),
}
