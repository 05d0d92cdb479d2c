//! What the attribute on the function says.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Attribute, Expr, ExprLit, Ident, Lit, LitStr, Path, parse::ParseStream};

use crate::{
    docs,
    errors::Errors,
    kind::Kind,
    names,
    options::{Options, option},
    parameter::FunctionParameter,
};

/// What the options of `#[tool]`, `#[prompt]` or `#[resource]` say.
pub(crate) struct Details {
    /// The variables of a resource's URI.
    pub(crate) variables: Option<Vec<String>>,
    /// The fields of the struct in `rejoinder`, each with a comma.
    pub(crate) fields: TokenStream,
    /// Whether the function blocks its thread.
    pub(crate) blocking: bool,
    /// How long a round may take, in milliseconds.
    pub(crate) timeout_ms: Option<u64>,
    /// The gate that `enabled = ..` names.
    pub(crate) enabled: Option<Path>,
    /// The scopes that a caller needs.
    pub(crate) scopes: Vec<LitStr>,
}

/// `enabled = is_admin`.
pub(crate) fn gate(options: &mut Options, errors: &mut Errors) -> Option<Path> {
    let path = match options.expression("enabled", "is_admin", errors)? {
        Expr::Path(path) if path.qself.is_none() => path.path,
        other => {
            errors.at(other, "`enabled` names a function marked `#[resolver]`: `enabled = is_admin`");
            return None;
        }
    };
    if path.segments.first().is_some_and(|first| first.ident == "Self") {
        errors.at(&path, "a gate is not a method: move the resolver out of the `impl` block");
        return None;
    }
    Some(path)
}

/// `tags = ["admin"]`.
fn tags(options: &mut Options, errors: &mut Errors) -> Vec<Expr> {
    match options.expression("tags", "[\"admin\"]", errors) {
        Some(Expr::Array(tags)) => tags.elems.into_iter().collect(),
        Some(other) => {
            errors.at(other, "`tags` is a list of strings: `tags = [\"admin\"]`");
            Vec::new()
        }
        None => Vec::new(),
    }
}

/// Reads the options of `#[tool]`, `#[prompt]` or `#[resource]`.
pub(crate) fn read(
    kind: Kind,
    tokens: TokenStream,
    attrs: &[Attribute],
    ident: &Ident,
    parameters: &[&FunctionParameter],
    is_async: bool,
    errors: &mut Errors,
) -> Details {
    const TOOL: &[&str] = &[
        "name",
        "title",
        "description",
        "read_only",
        "destructive",
        "idempotent",
        "open_world",
        "icon",
        "blocking",
        "timeout",
        "enabled",
        "tags",
        "scopes",
    ];
    const PROMPT: &[&str] = &["name", "title", "description", "icon", "timeout", "enabled", "scopes"];
    const RESOURCE: &[&str] =
        &["name", "title", "description", "mime_type", "ttl_ms", "public", "icon", "timeout", "enabled", "scopes"];
    let (mut variables_of_uri, mut fields) = (None, Vec::new());
    let mut options = match kind {
        Kind::Tool => Options::parse("`#[tool]`", TOOL, tokens, errors),
        Kind::Prompt | Kind::Resolver | Kind::Pipe | Kind::Completion => {
            Options::parse("`#[prompt]`", PROMPT, tokens, errors)
        }
        Kind::Resource => {
            let (uri, options) = Options::parse_after("`#[resource]`", RESOURCE, uri, tokens, errors);
            if let Some(uri) = uri {
                let variables = variables(&uri.value());
                check_variables(&uri, &variables, parameters, errors);
                variables_of_uri = Some(variables);
                fields.push(("uri", quote!(#uri)));
            }
            options
        }
    };
    let name = options.literal("name", errors);
    check_name(kind, name.as_ref(), ident, errors);
    let name = name.map_or_else(|| names::wire(ident), |name| name.value());
    let described = options.expression("description", "\"..\"", errors);
    let description = described.map(ToTokens::into_token_stream).or_else(|| docs::description(attrs));
    let (title, icons) = (options.text("title", errors), icons(&mut options, errors));
    fields.extend([
        ("name", quote!(#name)),
        ("title", option(title)),
        ("description", option(description)),
        ("icons", quote!(&[#(#icons),*])),
    ]);
    if kind == Kind::Tool {
        let [read_only, destructive, idempotent, open_world] =
            ["read_only", "destructive", "idempotent", "open_world"].map(|name| option(options.flag(name, errors)));
        let annotations = quote! {
            __rj::Annotations {
                read_only: #read_only,
                destructive: #destructive,
                idempotent: #idempotent,
                open_world: #open_world,
            }
        };
        fields.push(("annotations", annotations));
    }
    if kind == Kind::Resource {
        fields.extend([
            ("mime_type", option(options.text("mime_type", errors))),
            ("ttl_ms", option(options.number("ttl_ms", errors))),
            ("public", option(options.flag("public", errors))),
        ]);
    }
    let blocking = (kind == Kind::Tool).then(|| options.flag("blocking", errors)).flatten();
    if let Some(flag) = blocking.as_ref().filter(|flag| flag.value && is_async) {
        errors.at(
            flag,
            "`blocking` is for a function that blocks its thread, so it cannot be `async`: remove one of the two",
        );
    }
    let timeout_ms = options.literal("timeout", errors).and_then(|written| {
        let parsed = milliseconds(&written.value());
        if parsed.is_none() {
            errors.at(
                &written,
                "`timeout` is a whole number above 0 with its unit `ms`, `s`, `m` or `h`: `timeout = \"30s\"`",
            );
        }
        parsed
    });
    if kind == Kind::Tool {
        let tags = tags(&mut options, errors);
        fields.push(("tags", quote!(&[#(#tags),*])));
    }
    let enabled = gate(&mut options, errors);
    let scopes = scopes(&mut options, errors);
    options.finish(errors);
    let fields = fields.into_iter().map(|(name, value)| {
        let name = Ident::new(name, Span::call_site());
        quote!(#name: #value,)
    });
    let blocking = blocking.is_some_and(|flag| flag.value);
    Details { variables: variables_of_uri, fields: fields.collect(), blocking, timeout_ms, enabled, scopes }
}

/// `scopes = ["..", ".."]`.
fn scopes(options: &mut Options, errors: &mut Errors) -> Vec<LitStr> {
    const RULE: &str = "`scopes` is a list of strings without spaces and quotes: `scopes = [\"files:write\"]`";
    // RFC 6749, section 3.3.
    let is_scope =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e));
    let elements = match options.expression("scopes", "[\"files:write\"]", errors) {
        None => return Vec::new(),
        Some(Expr::Array(array)) => array.elems,
        Some(other) => {
            errors.at(other, RULE);
            return Vec::new();
        }
    };
    let mut scopes = Vec::new();
    for element in elements {
        match element {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) if is_scope(&text.value()) => scopes.push(text),
            other => errors.at(other, RULE),
        }
    }
    scopes
}

/// The milliseconds of `500ms`, `30s`, `2m` or `1h`.
fn milliseconds(text: &str) -> Option<u64> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
    let factor = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor).filter(|milliseconds| *milliseconds > 0)
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
fn check_variables(uri: &LitStr, variables: &[String], parameters: &[&FunctionParameter], errors: &mut Errors) {
    for variable in variables {
        let named = || parameters.iter().filter(|parameter| parameter.name == *variable);
        match named().find(|parameter| parameter.resolver().is_none()).or_else(|| named().next()) {
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
        let [mime_type, sizes] = ["mime_type", "sizes"].map(|name| option(options.text(name, errors)));
        options.finish(errors);
        icons.push(quote!(__rj::IconDetails { src: #src, mime_type: #mime_type, sizes: #sizes }));
    }
    icons
}

#[cfg(test)]
mod tests {
    use super::{milliseconds, variables};

    #[test]
    fn a_duration_is_a_number_with_a_unit() {
        for (text, read) in [
            ("500ms", Some(500)),
            ("30s", Some(30_000)),
            ("2m", Some(120_000)),
            ("1h", Some(3_600_000)),
            ("0s", None),
            ("30", None),
            ("s", None),
            ("", None),
            ("-1s", None),
            ("1.5s", None),
            ("30 s", None),
            ("1d", None),
            ("18446744073709551615h", None),
        ] {
            assert_eq!(milliseconds(text), read, "{text}");
        }
    }

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
