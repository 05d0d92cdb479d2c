//! What the attribute on the function says.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Attribute, Expr, Ident, LitStr, Path, parse::ParseStream, spanned::Spanned};

use crate::{
    docs,
    errors::Errors,
    kind::Kind,
    names,
    options::{Options, is_set, option, some_field},
};

/// What the options of `#[tool]`, `#[prompt]` or `#[resource]` say.
pub(crate) struct Details {
    /// The name that clients see.
    pub(crate) name: String,
    /// The fields of `ItemDetails` in `rejoinder`, each with a comma.
    pub(crate) fields: TokenStream,
    /// Whether the function blocks its thread.
    pub(crate) blocking: bool,
    /// The gates that `enabled = ..` names.
    pub(crate) enabled: Vec<Path>,
}

/// `enabled = gate`, or `enabled = [first, second]`.
pub(crate) fn gates(options: &mut Options, errors: &mut Errors) -> Vec<Path> {
    let gates = match options.expression("enabled", "gate", errors) {
        Some(Expr::Array(list)) if !list.elems.is_empty() => list.elems.into_iter().collect(),
        Some(gate) => vec![gate],
        None => Vec::new(),
    };
    let path = |gate: Expr| match gate {
        Expr::Path(gate) if gate.path.segments.first().is_some_and(|first| first.ident != "Self") => Some(gate.path),
        Expr::Path(gate) => {
            errors.at(gate, "a gate is not a method: move the resolver out of the `impl` block");
            None
        }
        other => {
            errors.at(other, "`enabled` names a resolver, `enabled = gate`, or several that must all be open, `enabled = [first, second]`");
            None
        }
    };
    gates.into_iter().filter_map(path).collect()
}

/// Reads the options of `#[tool]`, `#[prompt]` or `#[resource]`. The compiler checks the types of their values.
pub(crate) fn read(
    kind: Kind,
    options: &mut Options,
    uri: Option<LitStr>,
    attrs: &[Attribute],
    ident: &Ident,
    is_async: bool,
    errors: &mut Errors,
) -> Details {
    let name =
        options.value::<LitStr>("name", "\"..\"", errors).map_or_else(|| names::wire(ident), |name| name.value());
    let mut fields: TokenStream = uri.map(|uri| quote!(uri: #uri,)).into_iter().collect();
    let described = options.expression("description", "\"..\"", errors).map(ToTokens::into_token_stream);
    let timeout = duration(options, "timeout", "30s", errors).map(ToTokens::into_token_stream);
    let given = [("description", described.or_else(|| docs::description(attrs))), ("timeout_ms", timeout)];
    fields.extend(given.into_iter().filter_map(some_field));
    for name in kind.options() {
        match name {
            "title" | "mime_type" | "ttl_ms" => {
                fields.extend(some_field((name, options.expression(name, "..", errors))));
            }
            "read_only" | "destructive" | "idempotent" | "open_world" | "public" => {
                fields.extend(some_field((name, options.flag(name, errors))));
            }
            "scopes" | "tags" => {
                let (field, list) = (format_ident!("{name}"), options.expression(name, "[\"..\"]", errors));
                if let Some(text @ Expr::Lit(_)) = &list {
                    errors.at(text, format!("`{name}` is a list: `{name} = [{}]`", names::pretty(text)));
                }
                fields.extend(list.map(|list| quote_spanned!(list.span()=> #field: &#list,)));
            }
            _ => {}
        }
    }
    if kind == Kind::Tool {
        fields.extend(some_field(("task", task(options, errors))));
    }
    let icons = icons(options, errors);
    if !icons.is_empty() {
        fields.extend(quote!(icons: &[#(#icons),*],));
    }
    let blocking = if kind == Kind::Tool { options.flag("blocking", errors) } else { None };
    let blocking = blocking.filter(|flag| is_set(Some(flag)));
    if let Some(flag) = blocking.as_ref().filter(|_| is_async) {
        errors.at(
            flag,
            "`blocking` is for a function that blocks its thread, so it cannot be `async`: remove one of the two",
        );
    }
    Details { name, fields, blocking: blocking.is_some(), enabled: gates(options, errors) }
}

/// `name = "30s"`, in milliseconds.
fn duration(options: &mut Options, name: &str, example: &str, errors: &mut Errors) -> Option<u64> {
    let written = options.value::<LitStr>(name, &format!("\"{example}\""), errors)?;
    let milliseconds = milliseconds(&written.value());
    if milliseconds.is_none() {
        errors.at(
            &written,
            format!("`{name}` is a whole number above 0 with its unit `ms`, `s`, `m` or `h`: `{name} = \"{example}\"`"),
        );
    }
    milliseconds
}

/// `task`, or `task(required, ttl = "2h", poll = "2s")`: how a tool runs as a task.
fn task(options: &mut Options, errors: &mut Errors) -> Option<TokenStream> {
    let tokens = options.flag_or_list("task", errors)?;
    let mut options = Options::parse("`task`", &["required", "ttl", "poll"], tokens, errors);
    let required = options.flag("required", errors).filter(|flag| is_set(Some(flag))).map(|_| quote!(.required()));
    let times = [("ttl", "2h"), ("poll", "2s")].map(|(name, example)| {
        let milliseconds = duration(&mut options, name, example, errors)?;
        let name = format_ident!("{name}");
        Some(quote!(.#name(::core::time::Duration::from_millis(#milliseconds))))
    });
    options.finish(errors);
    let set = required.into_iter().chain(times.into_iter().flatten());
    Some(quote!(__rejoinder::tasks::TaskOptions::new()#(#set)*))
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

/// The URI, and the comma after it.
pub(crate) fn uri(input: ParseStream<'_>) -> syn::Result<LitStr> {
    let uri: LitStr = input.parse().map_err(|error: syn::Error| {
        syn::Error::new(error.span(), "a resource needs its URI first: `#[resource(\"notes://{id}\")]`")
    })?;
    if !uri.value().contains(':') {
        return Err(syn::Error::new(uri.span(), "a URI begins with a scheme, such as `notes://`"));
    }
    if !input.is_empty() {
        input.parse::<syn::Token![,]>()?;
    }
    Ok(uri)
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
        let [mime_type, sizes] = ["mime_type", "sizes"].map(|name| option(options.expression(name, "\"..\"", errors)));
        options.finish(errors);
        icons.extend(src.map(|src| quote!((#src, #mime_type, #sizes))));
    }
    icons
}

#[cfg(test)]
mod tests {
    use super::milliseconds;

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
}
