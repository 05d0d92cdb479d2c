//! What the attribute on the function says.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Attribute, Ident, LitStr, parse::ParseStream};

use crate::{
    docs, errors::Errors, kind::Kind, names, options::Options, parameter::FunctionParameter, signature::Place,
};

/// What the options of `#[tool]`, `#[prompt]` or `#[resource]` say.
pub(crate) struct Details {
    /// The name that was given, if it is not the function's.
    name: Option<String>,
    uri: String,
    /// The variables of a resource's URI.
    pub(crate) variables: Option<Vec<String>>,
    /// The fields of the details that were given.
    options: Vec<(&'static str, Option<TokenStream>)>,
    /// The fields of a tool's annotations that were given.
    annotations: Vec<(&'static str, Option<TokenStream>)>,
    icons: Vec<TokenStream>,
}

impl Details {
    pub(crate) fn nothing() -> Self {
        let (options, annotations, icons) = (Vec::new(), Vec::new(), Vec::new());
        Self { name: None, uri: String::new(), variables: None, options, annotations, icons }
    }

    /// The same as it is written outside the `impl` block.
    pub(crate) fn outside(mut self, place: &Place) -> Self {
        let values = self.options.iter_mut().chain(&mut self.annotations).filter_map(|(_, value)| value.as_mut());
        for value in values.chain(&mut self.icons) {
            *value = place.outside(std::mem::take(value));
        }
        self
    }

    /// The expression of the details of a function of that name.
    pub(crate) fn expression(&self, kind: Kind, output: &TokenStream, function: &str) -> TokenStream {
        let Self { uri, icons, .. } = self;
        let (ty, name) = (kind.details(), self.name.as_deref().unwrap_or(function));
        let plain = match kind {
            Kind::Resource => quote!(__rj::#ty::new(#uri, #name)),
            Kind::Tool => quote!(__rj::#ty::of::<#output>(#name)),
            Kind::Prompt | Kind::Resolver => quote!(__rj::#ty::new(#name)),
        };
        let details = names::with_options(&quote!(__rj::#ty), &plain, &self.options);
        let mut more = Vec::new();
        if self.annotations.iter().any(|(_, value)| value.is_some()) {
            // All of them, because a base without effect is a clippy warning in the author's crate.
            let annotations = self.annotations.iter().map(|(name, value)| {
                let name = Ident::new(name, Span::call_site());
                let value = value.as_ref().map_or_else(|| quote!(__rj::None), |value| quote!(__rj::Some(#value)));
                quote!(#name: #value)
            });
            more.push(quote!(annotations: __rj::Annotations { #(#annotations,)* }));
        }
        if !icons.is_empty() {
            more.push(quote!(icons: &[#(#icons),*]));
        }
        if more.is_empty() { details } else { quote!(__rj::#ty { #(#more,)* ..#details }) }
    }
}

/// Reads the options of `#[tool]`, `#[prompt]` or `#[resource]`.
pub(crate) fn read(
    kind: Kind,
    tokens: TokenStream,
    attrs: &[Attribute],
    ident: &Ident,
    parameters: &[FunctionParameter],
    errors: &mut Errors,
) -> Details {
    const TOOL: &[&str] =
        &["name", "title", "description", "read_only", "destructive", "idempotent", "open_world", "icon"];
    const PROMPT: &[&str] = &["name", "title", "description", "icon"];
    const RESOURCE: &[&str] = &["name", "title", "description", "mime_type", "ttl_ms", "public", "icon"];
    let mut details = Details::nothing();
    let mut options = match kind {
        Kind::Tool => Options::parse("`#[tool]`", TOOL, tokens, errors),
        Kind::Prompt | Kind::Resolver => Options::parse("`#[prompt]`", PROMPT, tokens, errors),
        Kind::Resource => {
            let (uri, options) = Options::parse_after("`#[resource]`", RESOURCE, uri, tokens, errors);
            if let Some(uri) = uri {
                let variables = variables(&uri.value());
                check_variables(&uri, &variables, parameters, errors);
                (details.uri, details.variables) = (uri.value(), Some(variables));
            }
            options
        }
    };
    let name = options.literal("name", errors);
    check_name(kind, name.as_ref(), ident, errors);
    details.name = name.map(|name| name.value());
    let described = options.expression("description", "\"..\"", errors);
    let description = described.map(ToTokens::into_token_stream).or_else(|| docs::description(attrs));
    details.options = vec![("title", options.text("title", errors)), ("description", description)];
    details.icons = icons(&mut options, errors);
    if kind == Kind::Tool {
        details.annotations = ["read_only", "destructive", "idempotent", "open_world"]
            .map(|name| (name, options.flag(name, errors).map(ToTokens::into_token_stream)))
            .into();
    }
    if kind == Kind::Resource {
        details.options.extend([
            ("mime_type", options.text("mime_type", errors)),
            ("ttl_ms", options.number("ttl_ms", errors)),
            ("public", options.flag("public", errors).map(ToTokens::into_token_stream)),
        ]);
    }
    options.finish(errors);
    details
}

fn check_name(kind: Kind, given: Option<&LitStr>, ident: &Ident, errors: &mut Errors) {
    const RULE: &str = "a tool's name is 1 to 128 letters, digits, `_`, `-` and `.`";
    match given {
        Some(given) if given.value().is_empty() => errors.at(given, "a name cannot be empty"),
        Some(given) if kind == Kind::Tool && !names::is_tool_name(&given.value()) => errors.at(given, RULE),
        None if kind == Kind::Tool && !names::is_tool_name(&names::wire(ident)) => {
            errors.at(ident, format!("{RULE}: write `#[tool(name = \"..\")]`"));
        }
        _ => {}
    }
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

/// The names of a URI template's variables. The server checks the template when it is built.
fn variables(uri: &str) -> Vec<String> {
    let expressions = uri.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(expression, _)| expression);
    let names =
        expressions.flat_map(|expression| expression.trim_start_matches(['+', '#', '.', '/', '?', '&']).split(','));
    names.map(|name| name.trim_end_matches('*').to_owned()).collect()
}

/// Each variable must be a parameter. Whether each argument is a variable depends on types, so the compiler checks that.
fn check_variables(uri: &LitStr, variables: &[String], parameters: &[FunctionParameter], errors: &mut Errors) {
    for variable in variables {
        match parameters.iter().find(|parameter| parameter.name == *variable) {
            Some(parameter) if parameter.resolver().is_some() => errors.at(
                &parameter.ident,
                format!(
                    "a resolver fills this parameter, but the URI has a variable `{variable}`: rename one of the two"
                ),
            ),
            Some(_) => {}
            None => errors.at(
                uri,
                format!(
                    "no parameter takes the variable `{variable}`: add `{variable}: String` to the function, or remove \
                     the variable from the URI"
                ),
            ),
        }
    }
}

fn icons(options: &mut Options, errors: &mut Errors) -> Vec<TokenStream> {
    let mut icons = Vec::new();
    for tokens in options.lists("icon", errors) {
        let at = tokens.clone();
        let mut options = Options::parse("`icon`", &["src", "mime_type", "sizes"], tokens, errors);
        let src = options.expression("src", "\"..\"", errors);
        if src.is_none() {
            errors.at(at, "an icon needs its address: `icon(src = \"..\")`");
        }
        let given = ["mime_type", "sizes"].map(|name| (name, options.text(name, errors)));
        options.finish(errors);
        icons.push(names::with_options(&quote!(__rj::IconDetails), &quote!(__rj::IconDetails::new(#src)), &given));
    }
    icons
}

#[cfg(test)]
mod tests {
    use super::variables;

    #[test]
    fn variables_are_found() {
        for (uri, found) in [
            ("files://{+root}/{path}{?page,all*}", &["root", "path", "page", "all"][..]),
            ("files://a{/b,c}{.d}{#e}", &["b", "c", "d", "e"]),
            ("db://rows?kind={kind}{&page}{&size}", &["kind", "page", "size"]),
            ("text://readme", &[]),
        ] {
            assert_eq!(variables(uri), found, "{uri}");
        }
    }
}
