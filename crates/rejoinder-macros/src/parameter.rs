//! The parameters of a function: what the author wrote about each.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::{
    Attribute, Expr, FnArg, LitStr, Meta, Pat, PatType, Path, Signature, Token, Type, parse::ParseStream, parse_quote,
    punctuated::Punctuated,
};

use crate::{
    constraints::{CONSTRAINTS, constraints},
    docs,
    errors::{Errors, Extent},
    kind::Kind,
    names,
    options::{Options, tokens_of},
    signature::{check_owned, check_parameter, check_path, optional_reference},
};

/// One parameter.
pub(crate) struct FunctionParameter {
    pub(crate) ident: Ident,
    /// The argument's name, and the name in messages.
    pub(crate) name: String,
    pub(crate) ty: Type,
    /// The doc comment, as an expression.
    pub(crate) description: Option<TokenStream>,
    pub(crate) source: Source,
    /// `#[pipe(..)]`: what an argument or a header passes through.
    pub(crate) pipes: Vec<Path>,
}

/// Where its author says it comes from.
pub(crate) enum Source {
    /// No attribute: its type decides.
    Type,
    /// `#[arg(..)]`: from the model.
    Argument(Box<ArgumentOptions>),
    /// `#[inject]`: from the call.
    Injected,
    /// `#[header(..)]`: from a header of the request.
    Header(Box<HeaderOptions>),
    /// `#[resolve(function)]`: from a resolver.
    Resolved(Path),
}

impl FunctionParameter {
    /// The resolver that fills it.
    pub(crate) fn resolver(&self) -> Option<&Path> {
        match &self.source {
            Source::Resolved(path) => Some(path),
            _ => None,
        }
    }

    /// The argument that it borrows, if it borrows one.
    pub(crate) fn borrowed(&self) -> Option<Borrowed> {
        let (reference, is_optional) = match &self.ty {
            Type::Reference(reference) => (reference, false),
            ty => (optional_reference(ty)?, true),
        };
        if reference.lifetime.is_some() || matches!(self.source, Source::Resolved(_) | Source::Header(_)) {
            return None;
        }
        let owner = match &*reference.elem {
            Type::Path(path) if path.path.is_ident("str") => quote!(::std::string::String),
            Type::Slice(slice) => {
                let elem = &slice.elem;
                quote!(::std::vec::Vec<#elem>)
            }
            Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Path") => {
                // `PathBuf`, unless `Path` is a type of the author's own.
                quote!(<#path as ::std::borrow::ToOwned>::Owned)
            }
            other if is_optional => {
                return Some(Borrowed { ty: quote!(::std::option::Option<#other>), borrow: quote!(.as_ref()) });
            }
            other => return Some(Borrowed { ty: quote!(#other), borrow: quote!() }),
        };
        Some(if is_optional {
            Borrowed { ty: quote!(::std::option::Option<#owner>), borrow: quote!(.as_deref()) }
        } else {
            Borrowed { ty: owner, borrow: quote!() }
        })
    }
}

/// An argument that a resolver borrows.
pub(crate) struct Borrowed {
    /// The argument's type.
    pub(crate) ty: TokenStream,
    /// What is called on a reference to the argument.
    pub(crate) borrow: TokenStream,
}

/// What `#[arg(..)]` says.
pub(crate) struct ArgumentOptions {
    name: Option<LitStr>,
    pub(crate) default: Option<Expr>,
    pub(crate) header: Option<LitStr>,
    pub(crate) complete: Option<Path>,
    /// What is called on its `ArgumentRules`: `.min(1).max(3)`.
    pub(crate) rules: TokenStream,
}

/// What `#[header(..)]` says.
pub(crate) struct HeaderOptions {
    /// The header's name: that of the parameter with `-` for `_`, unless the author gave one.
    pub(crate) name: String,
    pub(crate) default: Option<Expr>,
}

/// Reads the parameters and takes our attributes and doc comments off them.
pub(crate) fn read_all(kind: Kind, signature: &mut Signature, errors: &mut Errors) -> Vec<FunctionParameter> {
    let typed = signature.inputs.iter_mut().filter_map(|input| match input {
        FnArg::Typed(parameter) => Some(parameter),
        FnArg::Receiver(_) => None,
    });
    let mut parameters: Vec<FunctionParameter> = Vec::new();
    for typed in typed {
        let Some(parameter) = read_one(kind, typed, errors) else { continue };
        let is_same = |other: &&FunctionParameter| {
            let both = [&other.source, &parameter.source];
            other.name == parameter.name && both.iter().all(|source| matches!(source, Source::Argument(_)))
        };
        if let Some(other) = parameters.iter().find(is_same) {
            let (name, other) = (&parameter.name, &other.ident);
            errors.at(
                &parameter.ident,
                format!("the parameter `{other}` is already the argument `{name}`: rename one of the two"),
            );
        }
        parameters.push(parameter);
    }
    parameters
}

fn read_one(kind: Kind, typed: &mut PatType, errors: &mut Errors) -> Option<FunctionParameter> {
    let attrs = std::mem::take(&mut typed.attrs);
    let (ours, theirs): (Vec<_>, Vec<_>) = attrs.into_iter().partition(is_ours);
    typed.attrs = theirs;
    typed.attrs.retain(|attr| is_foreign(attr, errors));
    let ident = match &*typed.pat {
        Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => pat.ident.clone(),
        Pat::Wild(pat) if kind.takes_a_value() => Ident::new("value", pat.underscore_token.span),
        Pat::Wild(pat) => {
            errors.at(pat, "a parameter needs a name: it is the argument's name");
            return None;
        }
        pat => {
            errors.at(pat, "a parameter is a plain name, which is the argument's name: take it apart in the function");
            return None;
        }
    };
    let (piping, ours): (Vec<_>, Vec<_>) = ours.into_iter().partition(|attr| attr.path().is_ident("pipe"));
    let pipes = pipes(kind, &piping, errors);
    let source = match (source(kind, &ident, &ours, errors), piping.first()) {
        (Source::Type, Some(_)) => Source::Argument(Box::new(argument(kind, &parse_quote!(#[arg]), errors))),
        (source @ (Source::Injected | Source::Resolved(_)), Some(piping)) => {
            errors.at(
                piping,
                "only an argument or a header passes through pipes: call the function where the value is made",
            );
            source
        }
        (source, _) => source,
    };
    match (&source, &*typed.ty) {
        (Source::Header(_), Type::Reference(reference)) => check_owned(reference, "a header", errors),
        (source, ty) => check_parameter(kind, ty, matches!(source, Source::Resolved(_)), errors),
    }
    let given = match &source {
        Source::Argument(argument) => argument.name.as_ref(),
        _ => None,
    };
    let name = given.map_or_else(|| names::wire(&ident), LitStr::value);
    Some(FunctionParameter {
        ident,
        name,
        ty: (*typed.ty).clone(),
        description: docs::description(&ours),
        source,
        pipes,
    })
}

/// Whether an attribute is for the compiler: no other has a meaning here.
fn is_foreign(attr: &Attribute, errors: &mut Errors) -> bool {
    let is_lint = ["allow", "expect", "warn", "deny", "forbid"].iter().any(|lint| attr.path().is_ident(lint));
    if !is_lint {
        let name = names::pretty(attr.path());
        errors.at(
            attr,
            format!(
                "`{name}` on a parameter is not supported: write `#[arg(..)]`, `#[header]`, `#[inject]`, `#[pipe(..)]` or \
                 `#[resolve(function)]`, or put it on a type of your own"
            ),
        );
    }
    is_lint
}

fn is_ours(attr: &Attribute) -> bool {
    docs::doc(attr).is_some()
        || ["arg", "header", "inject", "pipe", "resolve"].iter().any(|name| attr.path().is_ident(name))
}

fn source(kind: Kind, ident: &Ident, attrs: &[Attribute], errors: &mut Errors) -> Source {
    let mut source = Source::Type;
    for attr in attrs.iter().filter(|attr| docs::doc(attr).is_none()) {
        if !matches!(source, Source::Type) {
            errors.at(attr, "one attribute says where a parameter comes from: remove the others");
        } else if attr.path().is_ident("arg") {
            source = Source::Argument(Box::new(argument(kind, attr, errors)));
        } else if attr.path().is_ident("header") {
            source = Source::Header(Box::new(header(ident, attr, errors)));
        } else if attr.path().is_ident("resolve") {
            match attr.parse_args() {
                Ok(path) => {
                    check_path(&path, "a resolver in a block is named within it, as `Self::name`", errors);
                    source = Source::Resolved(path);
                }
                Err(_) => errors.at(attr, "name the resolver: `#[resolve(function)]`"),
            }
        } else {
            if !matches!(attr.meta, Meta::Path(_)) {
                errors.at(attr, "`#[inject]` takes no options");
            }
            source = Source::Injected;
        }
    }
    source
}

/// The functions that `#[pipe(..)]` names.
fn pipes(kind: Kind, attrs: &[Attribute], errors: &mut Errors) -> Vec<Path> {
    let Some(attr) = attrs.first() else { return Vec::new() };
    if kind == Kind::Resolver || kind.takes_a_value() {
        let word = kind.word();
        errors.at(
            attr,
            format!("only parameters of tools, prompts and resources have pipes: call the function in the {word}"),
        );
    }
    for other in &attrs[1..] {
        errors.at(other, "name all pipes in one list: `#[pipe(first, second)]`");
    }
    let named = match attr.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated) {
        Ok(named) if !named.is_empty() => named,
        _ => {
            errors.at(attr, "name the pipes: `#[pipe(first, second)]`");
            return Vec::new();
        }
    };
    for path in &named {
        check_path(path, "a pipe in a block is named within it, as `Self::name`", errors);
    }
    named.into_iter().collect()
}

/// What `#[arg(default)]` means.
fn default_of_the_type(option: &Path) -> Expr {
    let extent = Extent::of(option);
    let inferred = quote_spanned!(extent.start=> _);
    let default = extent.member(&inferred, quote!(__rj::OwnDefault), "own_default");
    Expr::Verbatim(quote_spanned!(extent.end=> #default()))
}

fn header(ident: &Ident, attr: &Attribute, errors: &mut Errors) -> HeaderOptions {
    let tokens = tokens_of(attr, "#[header(\"x-request-id\")]", errors);
    let given = |input: ParseStream<'_>| {
        let name = if input.peek(LitStr) { Some(input.parse::<LitStr>()?) } else { None };
        if name.is_some() && !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
        Ok(name)
    };
    let (given, mut options) = Options::parse_after("`#[header]`", &["default"], given, tokens, errors);
    let default = options.expression_or("default", default_of_the_type, errors);
    options.finish(errors);
    let name = match given.flatten() {
        Some(given) => {
            if !names::is_header_name(&given.value()) {
                errors.at(&given, "this cannot be the name of a header: it has letters, digits and `-`");
            }
            given.value()
        }
        None => {
            let name = names::wire(ident).replace('_', "-");
            if !names::is_header_name(&name) || name.starts_with('-') {
                errors.at(ident, "this cannot be the name of a header: name it, `#[header(\"..\")]`");
            }
            name
        }
    };
    HeaderOptions { name, default }
}

fn argument(kind: Kind, attr: &Attribute, errors: &mut Errors) -> ArgumentOptions {
    let tokens = tokens_of(attr, "#[arg(default = ..)]", errors);
    let known = [&["name", "default", "header", "complete"], CONSTRAINTS].concat();
    let mut options = Options::parse("`#[arg]`", &known, tokens, errors);
    let default = options.expression_or("default", default_of_the_type, errors);
    let argument = ArgumentOptions {
        name: options.literal("name", errors),
        header: options.literal("header", errors),
        complete: options.path("complete", "path::to::function", "names a function", errors),
        rules: constraints(&mut options, errors),
        default,
    };
    options.finish(errors);
    if kind.takes_a_value() {
        let word = kind.word();
        errors.at(attr, format!("a {word} takes no arguments by name: its first parameter is the value that it gets"));
    }
    if let (Some(default), Kind::Resolver) = (&argument.default, kind) {
        errors.at(default, "a resolver cannot set a default: write it on the tool's parameter");
    }
    if kind == Kind::Resolver && !argument.rules.is_empty() {
        errors.at(attr, "a resolver gets arguments that were checked: write the constraint on the tool's parameter");
    }
    if let Some(header) = argument.header.as_ref().filter(|_| kind != Kind::Tool) {
        errors.at(header, "only a tool's arguments can be sent in headers, too");
    }
    if let (Some(complete), Kind::Tool | Kind::Resolver) = (&argument.complete, kind) {
        errors.at(complete, "only the arguments of prompts and resources can be completed: remove `complete`");
    }
    argument
}
