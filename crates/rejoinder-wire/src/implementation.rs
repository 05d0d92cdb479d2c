use serde::{Deserialize, Serialize};

use crate::Other;

object! {
    /// A program that speaks the protocol: a client or a server.
    ///
    /// ```
    /// use rejoinder_wire::Implementation;
    /// use serde_json::json;
    ///
    /// assert_eq!(json!(Implementation::new("shop", "1.0.0")), json!({ "name": "shop", "version": "1.0.0" }));
    /// ```
    pub struct Implementation {
        /// Its name, for programs.
        pub name: String,
        /// Its name, for people.
        pub title: Option<String>,
        /// Its version.
        pub version: String,
        /// What it does.
        pub description: Option<String>,
        /// Its pictures.
        pub icons: Option<Vec<Icon>>,
        /// Its home page.
        pub website_url: Option<String>,
    }
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

object! {
    /// A picture of a program, a tool, a prompt or a resource.
    ///
    /// ```
    /// use rejoinder_wire::Icon;
    ///
    /// let mut icon = Icon::new("https://shop.example/icon.png");
    /// icon.sizes = Some(vec!["48x48".to_owned()]);
    /// ```
    pub struct Icon {
        /// Its URI, which may be a `data:` URI.
        pub src: String,
        /// Its type.
        pub mime_type: Option<String>,
        /// Its sizes, such as `48x48` or `any`.
        pub sizes: Option<Vec<String>>,
        /// The background that it is made for.
        pub theme: Option<IconTheme>,
    }
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
