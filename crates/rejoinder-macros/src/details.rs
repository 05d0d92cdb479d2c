//! What the attribute on the function says, as the expression of its details.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Ident, LitStr, parse::ParseStream};

use crate::{
    docs,
    errors::Errors,
    kind::Kind,
    names,
    options::{Options, option},
    parameter::{Parameter, Source},
    template::{self, Variables},
};

/// What the options of `#[tool]`, `#[prompt]` or `#[resource]` say.
pub(crate) struct Details {
    /// The expression of the details.
    pub(crate) expression: TokenStream,
    /// The variables of a resource's URI.
    pub(crate) variables: Option<Variables>,
}

/// Reads the options of `#[tool]`, `#[prompt]` or `#[resource]`.
pub(crate) fn read(
    kind: Kind,
    options: TokenStream,
    attrs: &[Attribute],
    ident: &Ident,
    parameters: &[Parameter],
    errors: &mut Errors,
) -> Details {
    let without_variables = |expression| Details { expression, variables: None };
    match kind {
        Kind::Tool => without_variables(tool(options, attrs, ident, errors)),
        Kind::Prompt => without_variables(prompt(options, attrs, ident, errors)),
        Kind::Resource => resource(options, attrs, ident, parameters, errors),
        Kind::Resolver => without_variables(TokenStream::new()),
    }
}

fn tool(tokens: TokenStream, attrs: &[Attribute], ident: &Ident, errors: &mut Errors) -> TokenStream {
    const KNOWN: &[&str] =
        &["name", "title", "description", "read_only", "destructive", "idempotent", "open_world", "icon"];
    let mut options = Options::parse("`#[tool]`", KNOWN, tokens, errors);
    let common = Common::read(&mut options, attrs, ident, errors);
    let rule = "a tool's name is 1 to 128 letters, digits, `_`, `-` and `.`";
    match &common.given {
        Some(name) if !names::is_tool_name(&name.value()) => errors.at(name, rule),
        None if !names::is_tool_name(&common.name) => {
            errors.at(ident, format!("{rule}: write `#[tool(name = \"..\")]`"));
        }
        _ => {}
    }
    let [read_only, destructive, idempotent, open_world] =
        ["read_only", "destructive", "idempotent", "open_world"].map(|name| options.flag(name, errors));
    options.finish(errors);
    let Common { name, title, description, icons, .. } = common;
    quote! {
        __rj::ToolDetails {
            name: #name,
            title: #title,
            description: #description,
            annotations: __rj::Annotations {
                read_only: #read_only,
                destructive: #destructive,
                idempotent: #idempotent,
                open_world: #open_world,
            },
            icons: #icons,
            output_schema: __RJ_REPLYING.output_schema,
        }
    }
}

fn prompt(tokens: TokenStream, attrs: &[Attribute], ident: &Ident, errors: &mut Errors) -> TokenStream {
    let mut options = Options::parse("`#[prompt]`", &["name", "title", "description", "icon"], tokens, errors);
    let Common { name, title, description, icons, .. } = Common::read(&mut options, attrs, ident, errors);
    options.finish(errors);
    quote!(__rj::PromptDetails { name: #name, title: #title, description: #description, icons: #icons })
}

fn resource(
    tokens: TokenStream,
    attrs: &[Attribute],
    ident: &Ident,
    parameters: &[Parameter],
    errors: &mut Errors,
) -> Details {
    const KNOWN: &[&str] = &["name", "title", "description", "mime_type", "ttl_ms", "public", "icon"];
    let (uri, mut options) = Options::parse_after("`#[resource]`", KNOWN, uri, tokens, errors);
    let variables = uri.as_ref().and_then(|uri| template::variables(uri, errors));
    if let (Some(uri), Some(variables)) = (&uri, &variables) {
        check_variables(uri, variables, parameters, errors);
    }
    let Common { name, title, description, icons, .. } = Common::read(&mut options, attrs, ident, errors);
    let mime_type = options.text("mime_type", errors);
    let ttl_ms = options.number("ttl_ms", errors);
    let public = options.flag("public", errors);
    options.finish(errors);
    let uri = uri.map(|uri| uri.value()).unwrap_or_default();
    let expression = quote! {
        __rj::ResourceDetails {
            uri: #uri,
            name: #name,
            title: #title,
            description: #description,
            mime_type: #mime_type,
            ttl_ms: #ttl_ms,
            public: #public,
            icons: #icons,
        }
    };
    Details { expression, variables }
}

/// The URI, and the comma after it.
fn uri(input: ParseStream<'_>) -> syn::Result<LitStr> {
    let uri = input.parse().map_err(|error: syn::Error| {
        syn::Error::new(error.span(), "a resource needs its URI first: `#[resource(\"notes://{id}\")]`")
    })?;
    if !input.is_empty() {
        input.parse::<syn::Token![,]>()?;
    }
    Ok(uri)
}

/// Each variable must be a parameter, and each parameter that is surely an argument must be a variable. Of the others the
/// compiler knows whether they are arguments.
fn check_variables(uri: &LitStr, variables: &Variables, parameters: &[Parameter], errors: &mut Errors) {
    for variable in &variables.names {
        match parameters.iter().find(|parameter| parameter.name == *variable) {
            Some(parameter) if parameter.resolver().is_some() => {
                let told =
                    format!("a resolver makes this, not the variable `{variable}` of the URI: rename one of the two");
                errors.at(&parameter.ident, told);
            }
            Some(_) => {}
            None => {
                let told = format!(
                    "no parameter takes the variable `{variable}`: add `{variable}: String` to the function, or remove it \
                     from the URI"
                );
                errors.at(uri, told);
            }
        }
    }
    for Parameter { ident, name, source, .. } in parameters {
        if matches!(source, Source::Argument(_)) && !variables.contains(name) {
            errors.at(ident, variables.without(name));
        }
    }
}

/// What all three have.
struct Common {
    name: String,
    given: Option<LitStr>,
    title: TokenStream,
    description: TokenStream,
    icons: TokenStream,
}

impl Common {
    fn read(options: &mut Options, attrs: &[Attribute], ident: &Ident, errors: &mut Errors) -> Self {
        let given = options.literal("name", errors);
        let name = given.as_ref().map_or_else(|| names::wire(ident), LitStr::value);
        if let Some(given) = given.as_ref().filter(|_| name.is_empty()) {
            errors.at(given, "a name cannot be empty");
        }
        let title = options.text("title", errors);
        let described = options.expression("description", "\"..\"", errors);
        let description = match described {
            Some(text) => option(Some(text)),
            None => option(docs::description(attrs)),
        };
        let icons = icons(options, errors);
        Self { name, given, title, description, icons }
    }
}

fn icons(options: &mut Options, errors: &mut Errors) -> TokenStream {
    let mut icons = Vec::new();
    for tokens in options.lists("icon", errors) {
        let at = tokens.clone();
        let mut options = Options::parse("`icon`", &["src", "mime_type", "sizes"], tokens, errors);
        let src = options.expression("src", "\"..\"", errors);
        if src.is_none() {
            errors.at(at, "an icon needs its address: `icon(src = \"..\")`");
        }
        let mime_type = options.text("mime_type", errors);
        let sizes = options.text("sizes", errors);
        options.finish(errors);
        icons.push(quote!(__rj::IconDetails { src: #src, mime_type: #mime_type, sizes: #sizes }));
    }
    quote!(&[#(#icons),*])
}
