//! A function's signature, and what is refused in it.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{
    Attribute, FnArg, GenericArgument, GenericParam, Lifetime, ParenthesizedGenericArguments, Path, PathArguments,
    PathSegment, ReceiverKind, ReturnType, Safety, Signature, Type, TypeFnPtr, TypeImplTrait, TypeReference,
    Visibility,
    parse::{Parse, ParseStream},
    visit::{self, Visit},
};

use crate::{
    errors::Errors,
    kind::Kind,
    names::{self, pretty},
    parameter::Source,
};

/// A function, whose body is kept as it is.
pub(crate) struct FunctionItem {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) signature: Signature,
    body: TokenStream,
}

impl Parse for FunctionItem {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        Ok(Self {
            attrs: Attribute::parse_outer(input)?,
            vis: input.parse()?,
            signature: input.parse()?,
            body: input.parse()?,
        })
    }
}

impl ToTokens for FunctionItem {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { attrs, vis, signature, body } = self;
        tokens.extend(quote!(#(#attrs)* #vis #signature #body));
    }
}

impl FunctionItem {
    /// Refuses a path that begins with the function's own name: the name means the hidden type, not a crate or a module.
    pub(crate) fn check_own_name(&self, kind: Kind, errors: &mut Errors) {
        let Self { signature: Signature { ident, inputs, output, .. }, body, .. } = self;
        if let Some(found) = path_from(ident, quote!((#inputs) #output #body)) {
            let rename = match kind {
                Kind::Tool | Kind::Prompt | Kind::Resource => {
                    format!("rename the function and keep the name with `#[{}(name = \"{ident}\")]`", kind.word())
                }
                _ => "rename the function".to_owned(),
            };
            errors.at(
                found,
                format!(
                    "`{ident}` is this function, which hides a crate or module of that name: write `::{ident}` for the crate, \
                     or {rename}"
                ),
            );
        }
    }
}

/// Where a path begins with this name, unless the tokens declare names of their own.
fn path_from(name: &Ident, tokens: TokenStream) -> Option<Ident> {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let is_colon = |index: usize| matches!(trees.get(index), Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
    let mut found = None;
    for (index, tree) in trees.iter().enumerate() {
        match tree {
            TokenTree::Ident(ident) if ident == "use" || ident == "mod" => return None,
            TokenTree::Ident(ident) if ident == name => {
                let goes_on = is_colon(index + 1) && is_colon(index + 2);
                let is_name = matches!(trees.get(index + 3), Some(TokenTree::Ident(_)));
                let begins = index.checked_sub(1).is_none_or(|before| !is_colon(before));
                found = found.or_else(|| (goes_on && is_name && begins).then(|| ident.clone()));
            }
            TokenTree::Group(group) => found = found.or_else(|| path_from(name, group.stream())),
            _ => {}
        }
    }
    found
}

/// Where a function stands.
pub(crate) enum Place {
    /// In a module.
    Free,
    /// In an `impl` block of this type, under `#[handlers]`.
    Block(TokenStream),
}

impl Place {
    /// What is written there, as it is written outside the `impl` block.
    pub(crate) fn outside(&self, tokens: TokenStream) -> TokenStream {
        match self {
            Self::Free => tokens,
            Self::Block(ty) => names::without_self(tokens, ty),
        }
    }

    /// The same for what was parsed. What cannot be parsed again is left to the compiler.
    pub(crate) fn outside_parsed<T: Parse + ToTokens>(&self, written: T) -> T {
        syn::parse2(self.outside(written.to_token_stream())).unwrap_or(written)
    }
}

/// Checks everything but the parameters. Returns whether the function has a receiver.
pub(crate) fn check(kind: Kind, place: &Place, signature: &Signature, errors: &mut Errors) -> bool {
    let word = kind.word();
    if let Safety::Unsafe(unsafety) = &signature.safety {
        errors.at(unsafety, format!("a {word} cannot be `unsafe`, because clients choose its arguments"));
    }
    check_generics(kind, signature, errors);
    check_returned(kind, &signature.output, errors);
    check_receiver(word, place, signature, errors)
}

fn check_generics(kind: Kind, signature: &Signature, errors: &mut Errors) {
    let (word, params) = (kind.word(), &signature.generics.params);
    let has_lifetimes = params.iter().any(|param| matches!(param, GenericParam::Lifetime(_)));
    if kind == Kind::Resolver && has_lifetimes {
        errors.at(params, "a resolver needs no named lifetimes: write `&str` and remove them");
    } else if kind != Kind::Resolver && !params.is_empty() {
        errors.at(params, format!("a {word} cannot be generic: write types out that borrow nothing, and remove this"));
    }
}

fn check_receiver(word: &str, place: &Place, signature: &Signature, errors: &mut Errors) -> bool {
    let Some(FnArg::Receiver(receiver)) = signature.inputs.first() else { return false };
    let shared = matches!(&receiver.kind, ReceiverKind::Reference(_, None, None));
    if matches!(place, Place::Free) {
        errors.at(receiver, format!("a {word} with `self` needs `#[handlers]` on the `impl` block around it"));
    } else if !shared {
        let instead = match &receiver.kind {
            ReceiverKind::Reference(..) => {
                "because calls run at the same time: keep what changes in a `Mutex` or an atomic"
            }
            _ => {
                "because the server keeps the value in an `Arc` for all calls: keep what must be cloned in an `Arc` field"
            }
        };
        errors.at(receiver, format!("a {word} takes `&self`, {instead}"));
    }
    true
}

/// Checks the type of a parameter.
///
/// A resolver may borrow an argument, and a parameter that a resolver fills may borrow the value, in an `Option` too.
pub(crate) fn check_parameter(kind: Kind, ty: &Type, source: &Source, errors: &mut Errors) {
    let is_resolved = matches!(source, Source::Resolved(_));
    let may_be_argument = kind == Kind::Resolver && !matches!(source, Source::Header(_));
    let mut check = TypeCheck { kind, returned: false, may_borrow: is_resolved, errors };
    match ty {
        // Where the lifetime has a name, that is what is wrong.
        Type::Reference(reference) if is_resolved || may_be_argument => check.visit_borrowed(reference),
        // It cannot be read from a request, whose text does not live as long.
        Type::Reference(reference) if owned(&reference.elem) == "String" => check.refuse(reference),
        ty if may_be_argument && optional_reference(ty).is_some_and(|it| it.lifetime.is_none()) => {}
        ty => check.visit_type(ty),
    }
}

/// The reference in an `Option<&T>`.
pub(crate) fn optional_reference(ty: &Type) -> Option<&TypeReference> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == "Option")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first()? {
        GenericArgument::Type(Type::Reference(reference)) => Some(reference),
        _ => None,
    }
}

/// Refuses a path to a method where only a function of a module can be named.
pub(crate) fn check_path(path: &Path, instead: &str, errors: &mut Errors) {
    let is_type = |segment: &PathSegment| {
        segment.ident.to_string().starts_with(char::is_uppercase) || segment.ident == "str" && path.segments.len() == 2
    };
    if path.segments.iter().rev().nth(1).is_some_and(is_type) {
        errors.at(path, format!("`{}` is a method: {instead}", pretty(path)));
    }
}

/// Checks the return type.
pub(crate) fn check_returned(kind: Kind, output: &ReturnType, errors: &mut Errors) {
    if let ReturnType::Type(_, ty) = output {
        TypeCheck { kind, returned: true, may_borrow: false, errors }.visit_type(ty);
    }
}

struct TypeCheck<'a> {
    kind: Kind,
    returned: bool,
    may_borrow: bool,
    errors: &'a mut Errors,
}

impl TypeCheck<'_> {
    fn visit_borrowed(&mut self, reference: &TypeReference) {
        if let Some(mutability) = &reference.mutability {
            self.errors.at(mutability, "resolver values are shared: take `&T` or `T`, not `&mut T`");
        }
        self.visit_type(&reference.elem);
    }

    fn refuse(&mut self, reference: &TypeReference) {
        let (owned, written, word) = (owned(&reference.elem), pretty(reference), self.kind.word());
        let message = if self.returned {
            format!("a {word} returns an owned value: write `{owned}` instead of `{written}`")
        } else if self.kind == Kind::Completion {
            format!(
                "a {word} takes a `CompletionRequest` first, and owns its parameters: write `{owned}` instead of `{written}`"
            )
        } else {
            format!(
                "a {word} owns its parameters: write `{owned}` instead of `{written}`, or fill it from a resolver with \
                 `#[resolve(function)]`"
            )
        };
        self.errors.at(reference, message);
    }
}

impl<'ast> Visit<'ast> for TypeCheck<'_> {
    fn visit_type_reference(&mut self, reference: &'ast TypeReference) {
        if reference.lifetime.as_ref().is_some_and(|lifetime| lifetime.ident == "static") {
            return visit::visit_type(self, &reference.elem);
        }
        if self.may_borrow && reference.lifetime.is_none() {
            return self.visit_borrowed(reference);
        }
        self.refuse(reference);
    }

    fn visit_lifetime(&mut self, lifetime: &'ast Lifetime) {
        if lifetime.ident != "static" {
            let word = self.kind.word();
            let what = if self.returned { "returns an owned value" } else { "owns its parameters" };
            self.errors.at(lifetime, format!("a {word} {what}: use a type that borrows nothing"));
        }
    }

    fn visit_type_impl_trait(&mut self, ty: &'ast TypeImplTrait) {
        let (word, what) = (self.kind.word(), if self.returned { "result" } else { "parameter" });
        self.errors
            .at(ty, format!("a {word}'s {what} needs one type, which must be known: write it instead of `impl Trait`"));
    }

    // Inside `fn(&T)` and `Fn(&T)` a reference borrows nothing yet.
    fn visit_type_fn_ptr(&mut self, _: &'ast TypeFnPtr) {}

    fn visit_parenthesized_generic_arguments(&mut self, _: &'ast ParenthesizedGenericArguments) {}
}

/// What to write in place of a reference to this.
fn owned(elem: &Type) -> String {
    match elem {
        Type::Path(path) if path.path.is_ident("str") => "String".into(),
        Type::Path(path) if path.path.is_ident("Path") => "PathBuf".into(),
        Type::Slice(slice) => format!("Vec<{}>", pretty(&slice.elem)),
        Type::Reference(inner) => owned(&inner.elem),
        other => pretty(other),
    }
}
