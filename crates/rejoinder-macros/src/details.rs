//! What the attribute on the function says.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::{Attribute, Expr, ExprLit, Ident, Lit, LitStr, Path, parse::ParseStream};

use crate::{
    docs,
    errors::Errors,
    kind::Kind,
    names,
    options::{Options, option, some_field},
    parameter::FunctionParameter,
};

/// What the options of `#[tool]`, `#[prompt]` or `#[resource]` say.
pub(crate) struct Details {
    /// The name that clients see.
    pub(crate) name: String,
    /// The variables of a resource's URI.
    pub(crate) variables: Option<Vec<String>>,
    /// The fields of `ItemDetails` in `rejoinder`, each with a comma.
    pub(crate) fields: TokenStream,
    /// Whether the function blocks its thread.
    pub(crate) blocking: bool,
    /// The gate that `enabled = ..` names.
    pub(crate) enabled: Option<Path>,
}

/// `enabled = is_admin`.
pub(crate) fn gate(options: &mut Options, errors: &mut Errors) -> Option<Path> {
    let path = options.path("enabled", "is_admin", "names a function marked `#[resolver]`", errors)?;
    if path.segments.first().is_some_and(|first| first.ident == "Self") {
        errors.at(&path, "a gate is not a method: move the resolver out of the `impl` block");
        return None;
    }
    Some(path)
}

/// The elements of `name = [..]`.
fn elements(name: &str, example: &str, rule: &str, options: &mut Options, errors: &mut Errors) -> Vec<Expr> {
    match options.expression(name, example, errors) {
        Some(Expr::Array(array)) => array.elems.into_iter().collect(),
        Some(other) => {
            errors.at(other, rule);
            Vec::new()
        }
        None => Vec::new(),
    }
}

/// Reads the options of `#[tool]`, `#[prompt]` or `#[resource]`.
#[expect(clippy::too_many_arguments, reason = "everything that the author wrote")]
pub(crate) fn read(
    kind: Kind,
    options: &mut Options,
    uri: Option<LitStr>,
    attrs: &[Attribute],
    ident: &Ident,
    parameters: &[&FunctionParameter],
    is_async: bool,
    errors: &mut Errors,
) -> Details {
    let variables = uri.map(|uri| {
        let variables = variables(&uri.value());
        check_variables(&uri, &variables, parameters, errors);
        (uri, variables)
    });
    let name = options.literal("name", errors);
    check_name(kind, name.as_ref(), ident, errors);
    let name = name.map_or_else(|| names::wire(ident), |name| name.value());
    let described = options.expression("description", "\"..\"", errors);
    let mut given = vec![
        ("title", options.text("title", errors)),
        ("description", described.map(ToTokens::into_token_stream).or_else(|| docs::description(attrs))),
        ("timeout_ms", timeout(options, errors)),
    ];
    let icons = icons(options, errors);
    let mut lists = vec![("icons", icons), ("scopes", scopes(options, errors))];
    let (mut fields, mut blocking) = (TokenStream::new(), false);
    if let Some((uri, _)) = &variables {
        fields.extend(quote!(uri: #uri,));
        given.push(("mime_type", options.text("mime_type", errors)));
        given.push(("ttl_ms", options.number("ttl_ms", errors)));
        given.push(("public", options.flag("public", errors).map(ToTokens::into_token_stream)));
    }
    if kind == Kind::Tool {
        for hint in ["read_only", "destructive", "idempotent", "open_world"] {
            given.push((hint, options.flag(hint, errors).map(ToTokens::into_token_stream)));
        }
        let rule = "`tags` is a list of strings: `tags = [\"admin\"]`";
        let tags = elements("tags", "[\"admin\"]", rule, options, errors);
        lists.push(("tags", tags.into_iter().map(ToTokens::into_token_stream).collect()));
        let flag = options.flag("blocking", errors).filter(|flag| flag.value);
        blocking = flag.is_some();
        if let Some(flag) = flag.filter(|_| is_async) {
            errors.at(
                flag,
                "`blocking` is for a function that blocks its thread, so it cannot be `async`: remove one of the two",
            );
        }
    }
    fields.extend(given.into_iter().filter_map(some_field));
    for (list, elements) in lists.into_iter().filter(|(_, elements)| !elements.is_empty()) {
        let list = format_ident!("{list}");
        fields.extend(quote!(#list: &[#(#elements),*],));
    }
    let (variables, enabled) = (variables.map(|(_, variables)| variables), gate(options, errors));
    Details { name, variables, fields, blocking, enabled }
}

/// `timeout = "30s"`, in milliseconds.
fn timeout(options: &mut Options, errors: &mut Errors) -> Option<TokenStream> {
    let written = options.literal("timeout", errors)?;
    let milliseconds = milliseconds(&written.value());
    if milliseconds.is_none() {
        errors.at(
            &written,
            "`timeout` is a whole number above 0 with its unit `ms`, `s`, `m` or `h`: `timeout = \"30s\"`",
        );
    }
    milliseconds.map(ToTokens::into_token_stream)
}

/// `scopes = ["..", ".."]`.
fn scopes(options: &mut Options, errors: &mut Errors) -> Vec<TokenStream> {
    const RULE: &str = "`scopes` is a list of strings without spaces and quotes: `scopes = [\"files:write\"]`";
    // RFC 6749, section 3.3.
    let is_scope =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e));
    let mut scopes = Vec::new();
    for scope in elements("scopes", "[\"files:write\"]", RULE, options, errors) {
        match scope {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) if is_scope(&text.value()) => {
                scopes.push(text.into_token_stream());
            }
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
pub(crate) fn uri(input: ParseStream<'_>) -> syn::Result<LitStr> {
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
        icons.push(quote!((#src, #mime_type, #sizes)));
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
