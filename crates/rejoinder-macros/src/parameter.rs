//! The parameters of a function: what the author wrote about each.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{
    Attribute, Expr, FnArg, Generics, LitStr, Meta, Pat, PatType, Path, Signature, Token, Type, ext::IdentExt,
    parse::ParseStream, parse_quote, punctuated::Punctuated,
};

use crate::{
    constraints::{CONSTRAINTS, constraints},
    docs,
    errors::{Errors, Extent},
    expand::{Named, mentions},
    kind::Kind,
    names,
    options::{Options, tokens_of},
    signature::{Place, check_parameter, check_path, optional_reference},
};

/// One parameter, with the names that the expansion gives to what belongs to it.
pub(crate) struct FunctionParameter {
    pub(crate) ident: Ident,
    /// The argument's name, and the name in messages.
    pub(crate) name: String,
    /// Its type, as people write it.
    pub(crate) written: String,
    /// Where its type is written.
    pub(crate) extent: Extent,
    /// Its type, or that of the argument that it borrows, as it is written outside the `impl` block.
    pub(crate) ty: TokenStream,
    /// What is called on a reference to the argument that it borrows, if it borrows one.
    pub(crate) borrow: Option<TokenStream>,
    /// The doc comment, as an expression.
    pub(crate) description: Option<TokenStream>,
    pub(crate) source: Source,
    /// `#[pipe(..)]`: what an argument or a header passes through.
    pub(crate) pipes: Vec<Named>,
    /// Whether its type depends on the function's type parameters.
    pub(crate) is_generic: bool,
    pub(crate) index: usize,
    /// The variable that holds its value.
    pub(crate) local: Ident,
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
    Resolved(Named),
}

/// What `#[arg(..)]` says.
pub(crate) struct ArgumentOptions {
    name: Option<LitStr>,
    pub(crate) default: Option<Expr>,
    pub(crate) header: Option<LitStr>,
    pub(crate) complete: Option<Named>,
    /// What is called on its `ArgumentRules`: `.min(1).max(3)`.
    pub(crate) rules: TokenStream,
}

/// What `#[header(..)]` says.
pub(crate) struct HeaderOptions {
    /// The header's name: that of the parameter with `-` for `_`, unless the author gave one.
    pub(crate) name: String,
    pub(crate) default: Option<Expr>,
}

/// Reads the parameters of one function.
pub(crate) struct ParameterReader<'a> {
    pub(crate) kind: Kind,
    pub(crate) place: &'a Place,
    pub(crate) generics: &'a Generics,
    pub(crate) errors: &'a mut Errors,
}

impl ParameterReader<'_> {
    /// Reads the parameters and takes our attributes and doc comments off them.
    pub(crate) fn read_all(&mut self, signature: &mut Signature) -> Vec<FunctionParameter> {
        let typed = signature.inputs.iter_mut().filter_map(|input| match input {
            FnArg::Typed(parameter) => Some(parameter),
            FnArg::Receiver(_) => None,
        });
        typed.enumerate().filter_map(|(index, typed)| self.read(index, typed)).collect()
    }

    fn read(&mut self, index: usize, typed: &mut PatType) -> Option<FunctionParameter> {
        let (ours, theirs): (Vec<_>, Vec<_>) = std::mem::take(&mut typed.attrs).into_iter().partition(is_ours);
        typed.attrs = theirs;
        typed.attrs.retain(|attr| self.is_lint(attr));
        let ident = match &*typed.pat {
            Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => pat.ident.clone(),
            Pat::Wild(pat) if self.kind.takes_a_value() => Ident::new("value", pat.underscore_token.span),
            pat => {
                let ty = &typed.ty;
                let instead = match ty {
                    ty if is_named(ty, "State") => "`state: State<T>`, and use the value with `state.with(|value| ..)`",
                    ty if is_named(ty, "SessionState") => {
                        "`state: SessionState<T>`, and use the value with `state.with(|value| ..)`"
                    }
                    ty if is_named(ty, "Dep") => "`service: Dep<T>`, which dereferences to the value",
                    _ => "for example `value`, which is the argument's name, and take it apart in the function",
                };
                self.errors.at(pat, format!("a parameter needs a plain name: write {instead}"));
                return None;
            }
        };
        let (piping, ours): (Vec<_>, Vec<_>) = ours.into_iter().partition(|attr| attr.path().is_ident("pipe"));
        let pipes = self.pipes(index, &piping);
        let source = match (self.source(index, &ident, &ours), piping.first()) {
            (Source::Type, Some(_)) => self.argument(index, &parse_quote!(#[arg])),
            (source @ (Source::Injected | Source::Resolved(_)), Some(piping)) => {
                self.errors.at(
                    piping,
                    "only an argument or a header passes through pipes: call the function where the value is made",
                );
                source
            }
            (source, _) => source,
        };
        check_parameter(self.kind, &typed.ty, &source, self.errors);
        let given = match &source {
            Source::Argument(argument) => argument.name.as_ref(),
            _ => None,
        };
        let (ty, borrow) = match borrowed(&typed.ty, &source) {
            Some((ty, borrow)) => (self.place.outside(ty), Some(borrow)),
            None => (self.place.outside(typed.ty.to_token_stream()), None),
        };
        Some(FunctionParameter {
            name: given.map_or_else(|| names::wire(&ident), LitStr::value),
            ident,
            written: names::pretty(&typed.ty),
            extent: Extent::of(&typed.ty),
            is_generic: mentions(&ty, self.generics),
            ty,
            borrow,
            description: docs::description(&ours),
            source,
            pipes,
            index,
            local: names::local(&index.to_string()),
        })
    }

    /// Whether an attribute is for the compiler. No other has a meaning here, though some are written out of habit.
    fn is_lint(&mut self, attr: &Attribute) -> bool {
        let is_lint = ["allow", "expect", "warn", "deny", "forbid"].iter().any(|lint| attr.path().is_ident(lint));
        if !is_lint {
            let name = names::pretty(attr.path());
            self.errors.at(
                attr,
                format!(
                    "`{name}` on a parameter is not supported: write `#[arg(..)]`, `#[header]`, `#[inject]`, `#[pipe(..)]` \
                     or `#[resolve(function)]`, or put it on a type of your own"
                ),
            );
        }
        is_lint
    }

    fn source(&mut self, index: usize, ident: &Ident, attrs: &[Attribute]) -> Source {
        let mut source = Source::Type;
        for attr in attrs.iter().filter(|attr| docs::doc(attr).is_none()) {
            if !matches!(source, Source::Type) {
                self.errors.at(
                    attr,
                    "one attribute says where a parameter comes from: write all options in it, and remove the others",
                );
            } else if attr.path().is_ident("arg") {
                source = self.argument(index, attr);
            } else if attr.path().is_ident("header") {
                source = self.header(ident, attr);
            } else if attr.path().is_ident("resolve") {
                match attr.parse_args() {
                    Ok(path) => source = Source::Resolved(self.named(index, &path)),
                    Err(_) => self.errors.at(attr, "name the resolver: `#[resolve(function)]`"),
                }
            } else {
                if !matches!(attr.meta, Meta::Path(_)) {
                    self.errors.at(attr, "`#[inject]` takes no options");
                }
                source = Source::Injected;
            }
        }
        source
    }

    /// A function that an attribute names.
    fn named(&mut self, index: impl std::fmt::Display, path: &Path) -> Named {
        let name = path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
        match self.place {
            Place::Free => {
                let instead = "only a function outside of `impl` blocks can be named here, so move it out of its block";
                check_path(path, instead, self.errors);
            }
            Place::Block(_) if path.segments.first().is_some_and(|first| first.ident == "Self") => {}
            Place::Block(_) => check_path(path, &format!("in its own block it is named `Self::{name}`"), self.errors),
        }
        Named::new(index, path, self.place, self.generics)
    }

    /// The functions that `#[pipe(..)]` names.
    fn pipes(&mut self, index: usize, attrs: &[Attribute]) -> Vec<Named> {
        let Some(attr) = attrs.first() else { return Vec::new() };
        if !Kind::ITEMS.contains(&self.kind) {
            let word = self.kind.word();
            self.errors.at(
                attr,
                format!("only parameters of tools, prompts and resources have pipes: call the function in the {word}"),
            );
        }
        match attr.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated) {
            Ok(paths) if !paths.is_empty() && attrs.len() == 1 => {
                paths.iter().enumerate().map(|(n, path)| self.named(format!("{index}_{n}"), path)).collect()
            }
            _ => {
                self.errors.at(
                    attr,
                    "name functions marked `#[pipe]`, all in one list, without arguments: `#[pipe(first, second)]`",
                );
                Vec::new()
            }
        }
    }

    fn header(&mut self, ident: &Ident, attr: &Attribute) -> Source {
        let tokens = tokens_of(attr, "#[header(\"x-request-id\")]", self.errors);
        let given = |input: ParseStream<'_>| {
            if input.peek(Ident::peek_any) && input.fork().parse::<Ident>().is_ok_and(|option| option != "default") {
                return Err(
                    input.error("the name of a header is a text and stands alone: `#[header(\"x-request-id\")]`")
                );
            }
            let name = if input.peek(LitStr) { Some(input.parse::<LitStr>()?) } else { None };
            if name.is_some() && !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
            Ok(name)
        };
        let (given, mut options) = Options::parse_after("`#[header]`", &["default"], given, tokens, self.errors);
        let default = options.expression_or("default", default_of_the_type, self.errors);
        let default = default.map(|default| self.place.outside_parsed(default));
        options.finish(self.errors);
        let given = given.flatten().unwrap_or_else(|| LitStr::new(&names::wire(ident).replace('_', "-"), ident.span()));
        let name = given.value();
        if !names::is_header_name(&name) || name.starts_with('-') {
            self.errors.at(
                given,
                "this cannot be the name of a header: give it one of letters, digits and `-`, `#[header(\"..\")]`",
            );
        }
        Source::Header(Box::new(HeaderOptions { name, default }))
    }

    fn argument(&mut self, index: usize, attr: &Attribute) -> Source {
        let (kind, word) = (self.kind, self.kind.word());
        let tokens = tokens_of(attr, "#[arg(default = ..)]", self.errors);
        let known = [&["name", "default", "header", "complete"], CONSTRAINTS].concat();
        let mut options = Options::parse("`#[arg]`", &known, tokens, self.errors);
        let default = options.expression_or("default", default_of_the_type, self.errors);
        let default = default.map(|default| self.place.outside_parsed(default));
        let complete = options.value::<Path>("complete", "path::to::function", self.errors);
        let argument = ArgumentOptions {
            name: options.value("name", "\"..\"", self.errors),
            header: options.value("header", "\"..\"", self.errors),
            complete: complete.as_ref().map(|path| self.named(format!("{index}_complete"), path)),
            rules: self.place.outside(constraints(&mut options, self.errors)),
            default,
        };
        options.finish(self.errors);
        if kind.takes_a_value() {
            self.errors.at(
                attr,
                format!("a {word} takes no arguments by name: its first parameter is the value that it gets"),
            );
        }
        if kind == Kind::Resolver && (argument.default.is_some() || !argument.rules.is_empty()) {
            self.errors.at(
                attr,
                "a resolver gets arguments that were checked: write the default and the constraints on the tool's parameter",
            );
        }
        if let Some(header) = argument.header.as_ref().filter(|_| kind != Kind::Tool) {
            self.errors.at(header, "only a tool's arguments can be sent in headers, too");
        }
        if let (Some(complete), Kind::Tool | Kind::Resolver) = (&complete, kind) {
            self.errors.at(complete, "only the arguments of prompts and resources can be completed: remove `complete`");
        }
        Source::Argument(Box::new(argument))
    }
}

fn is_ours(attr: &Attribute) -> bool {
    docs::doc(attr).is_some()
        || ["arg", "header", "inject", "pipe", "resolve"].iter().any(|name| attr.path().is_ident(name))
}

/// Whether a type is written with this name.
pub(crate) fn is_named(ty: &impl ToTokens, name: &str) -> bool {
    let ty = syn::parse2::<Type>(ty.to_token_stream());
    matches!(ty, Ok(Type::Path(path)) if path.path.segments.last().is_some_and(|last| last.ident == name))
}

/// What `#[arg(default)]` means.
fn default_of_the_type(option: &Path) -> Expr {
    let extent = Extent::of(option);
    let inferred = quote_spanned!(extent.start=> _);
    let default = extent.member(&inferred, quote!(__rj::OwnDefault), "own_default");
    Expr::Verbatim(quote_spanned!(extent.end=> #default()))
}

/// The type of the argument that a parameter borrows, and what is called on a reference to it.
fn borrowed(ty: &Type, source: &Source) -> Option<(TokenStream, TokenStream)> {
    let (reference, is_optional) = match ty {
        Type::Reference(reference) => (reference, false),
        ty => (optional_reference(ty)?, true),
    };
    if reference.lifetime.is_some() || matches!(source, Source::Resolved(_) | Source::Header(_)) {
        return None;
    }
    let (owner, borrow) = match &*reference.elem {
        Type::Path(path) if path.path.is_ident("str") => (quote!(::std::string::String), "as_deref"),
        Type::Slice(slice) => {
            let elem = &slice.elem;
            (quote!(::std::vec::Vec<#elem>), "as_deref")
        }
        Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Path") => {
            // `PathBuf`, unless `Path` is a type of the author's own.
            (quote!(<#path as ::std::borrow::ToOwned>::Owned), "as_deref")
        }
        other => (quote!(#other), "as_ref"),
    };
    let borrow = format_ident!("{borrow}", span = Span::call_site());
    Some(if is_optional { (quote!(::std::option::Option<#owner>), quote!(.#borrow())) } else { (owner, quote!()) })
}
