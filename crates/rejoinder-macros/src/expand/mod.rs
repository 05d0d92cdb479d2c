//! What the macros write: the function as it is, and a hidden type of the same name beside it.

mod item;
mod list;
mod named;
mod parameter;
mod pipe;
mod resolver;

pub(crate) use list::list;
pub(crate) use named::Named;
pub(crate) use resolver::mentions;

#[cfg(test)]
mod tests;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::{
    Attribute, GenericParam, Generics, ImplItem, ImplItemFn, ItemImpl, Path, ReturnType, Signature, Visibility,
    parse::ParseStream,
};

use self::{
    named::imports,
    parameter::{resolve, take_resolved},
    resolver::ResolverOptions,
};
use crate::{
    details::{self, Details},
    errors::{Errors, Extent},
    kind::Kind,
    names,
    options::{Options, tokens_of},
    parameter::{FunctionParameter, ParameterReader},
    signature::{self, FunctionItem, Place},
};

/// The error for a function with two of our attributes.
const TWO_KINDS: &str =
    "a function is one of tool, prompt, resource, resolver, pipe and completion: remove one of the attributes";

/// One of our attributes on a free function.
pub(crate) fn function(kind: Kind, options: TokenStream, item: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let Ok(mut function) = syn::parse2::<FunctionItem>(item.clone()) else {
        let first: Option<TokenTree> = item.clone().into_iter().next();
        errors.at(first, format!("`#[{}]` goes on a function", kind.word()));
        return errors.or(item, TokenStream::new());
    };
    // A second one of our attributes would write the hidden type once more.
    function.attrs.retain(|attr| {
        let is_ours = Kind::of_attribute(attr.path()).is_some();
        if is_ours {
            errors.at(attr, TWO_KINDS);
        }
        !is_ours
    });
    function.check_own_name(kind, &mut errors);
    let FunctionItem { attrs, vis, signature, .. } = &mut function;
    let hidden = HiddenType::read(kind, options, &Place::Free, attrs, vis, signature, &mut errors);
    // A method is in an `impl` block, where a type cannot be.
    let added = if hidden.has_self { TokenStream::new() } else { hidden.expand() };
    errors.or(&function, added)
}

/// `#[handlers]` on an `impl` block.
pub(crate) fn impl_block(options: TokenStream, item: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let mut options =
        Options::parse("`#[handlers]`", &["tools", "prompts", "resources", "enabled", "crate"], options, &mut errors);
    let given = Kind::ITEMS.map(|kind| {
        options.value::<Ident>(&kind.method().to_string(), &format!("more_{}", kind.method()), &mut errors)
    });
    let (enabled, rejoinder) = (details::gates(&mut options, &mut errors), options.rejoinder(&mut errors));
    options.finish(&mut errors);
    let Some(mut block) = errors.check(syn::parse2::<ItemImpl>(item.clone())) else {
        return errors.or(item, TokenStream::new());
    };
    check_block(&block, &mut errors);
    let ty = block.self_ty.to_token_stream();
    let place = Place::Block(ty.clone());
    let mut functions = Vec::new();
    for item in &mut block.items {
        let ImplItem::Fn(method) = item else { continue };
        let Some((kind, options)) = take_attribute(method, &mut errors) else { continue };
        let ImplItemFn { attrs, vis, sig: signature, .. } = method;
        let mut function = HiddenType::read(kind, options, &place, attrs, vis, signature, &mut errors);
        function.rejoinder = rejoinder.clone();
        if Kind::ITEMS.contains(&kind) {
            function.put_behind(&enabled, &place);
        }
        functions.push(function);
    }
    if functions.is_empty() {
        errors.at(
            &block.self_ty,
            "this block has nothing to offer: write `#[tool]`, `#[prompt]` or `#[resource(..)]` before a method",
        );
    }
    let methods = Kind::ITEMS.into_iter().zip(given).map(|(kind, given)| {
        let items: Vec<_> = functions.iter().filter(|function| function.kind == kind).collect();
        if let Some(name) = given.as_ref().filter(|_| items.is_empty()) {
            errors.at(name, format!("this block has no {}: remove the option", kind.method()));
        }
        if items.is_empty() { TokenStream::new() } else { method(kind, given, &ty, &items, &rejoinder) }
    });
    let methods: Vec<TokenStream> = methods.collect();
    let functions = functions.iter().map(HiddenType::expand);
    errors.or(&block, quote!(#(#functions)* #(#methods)*))
}

/// What only some kinds of functions have.
enum Role {
    Item(Details),
    Resolver(ResolverOptions),
    /// A pipe or a completion function, with the type of its first parameter.
    Pipe(TokenStream),
}

fn check_block(block: &ItemImpl, errors: &mut Errors) {
    if let Some((path, _)) = &block.trait_ {
        errors.at(path, "`#[handlers]` goes on the `impl` block of a type, not of a trait");
    }
    if !block.generics.params.is_empty() {
        errors.at(&block.generics.params, "`#[handlers]` does not support generic types yet: write the types out");
    }
}

/// Takes our attribute off a function.
fn take_attribute(method: &mut ImplItemFn, errors: &mut Errors) -> Option<(Kind, TokenStream)> {
    let attrs = std::mem::take(&mut method.attrs);
    let mut found = None;
    for attr in attrs {
        let Some(kind) = Kind::of_attribute(attr.path()) else {
            method.attrs.push(attr);
            continue;
        };
        if found.is_some() {
            errors.at(&attr, TWO_KINDS);
            continue;
        }
        let options = tokens_of(&attr, &format!("#[{}(..)]", kind.word()), errors);
        found = Some((kind, options));
    }
    found
}

/// `tools()`, `prompts()` or `resources()`, or what the author called it.
fn method(
    kind: Kind,
    given: Option<Ident>,
    ty: &TokenStream,
    items: &[&HiddenType],
    rejoinder: &TokenStream,
) -> TokenStream {
    let (item, list, imports) = (kind.item(), kind.method(), names::imports(rejoinder));
    let method = given.unwrap_or_else(|| list.clone());
    let doc = format!(" Every {} of this block, on this value.", kind.word());
    // A second block is refused here, by a name that says what to do, before the compiler sees two methods.
    let once = format_ident!("two_blocks_with_{method}__write_handlers_{list}_equals_more_{list}");
    let each = items.iter().map(|HiddenType { ident, cfgs, .. }| {
        let of = quote!(<#ident as __rj::ListedAs<__rejoinder::#item, #ty>>::item);
        quote!(#(#cfgs)* #of(::std::sync::Arc::clone(self)))
    });
    quote! {
        const _: () = {
            #imports

            #[automatically_derived]
            #[allow(deprecated, reason = "the type may be")]
            impl #ty {
                #[allow(non_upper_case_globals, dead_code, reason = "it is only a name")]
                const #once: () = ();

                #[doc = #doc]
                #[must_use]
                #[allow(unreachable_pub, reason = "the type may be less public than its functions")]
                pub fn #method(self: &::std::sync::Arc<Self>) -> ::std::vec::Vec<__rejoinder::#item> {
                    ::std::vec::Vec::from([#(#each),*])
                }
            }
        };
    }
}

/// A function, and the hidden type beside it, which has its type parameters.
struct HiddenType {
    kind: Kind,
    /// The path to `rejoinder`.
    rejoinder: TokenStream,
    /// The function's name, so that both are imported together; the type of a method has its own name.
    ident: Ident,
    vis: Visibility,
    cfgs: Vec<Attribute>,
    generics: Generics,
    /// The function's name.
    name: Ident,
    /// The path to the function.
    function: TokenStream,
    /// Whose method the function is.
    receiver: TokenStream,
    has_self: bool,
    is_async: bool,
    parameters: Vec<FunctionParameter>,
    /// The gates of an item.
    gates: Vec<Named>,
    /// What the function returns.
    output: TokenStream,
    role: Role,
}

impl HiddenType {
    /// Reads a function, and takes our attributes off its parameters.
    fn read(
        kind: Kind,
        options: TokenStream,
        place: &Place,
        attrs: &[Attribute],
        vis: &Visibility,
        signature: &mut Signature,
        errors: &mut Errors,
    ) -> Self {
        let has_self = signature::check(kind, place, signature, errors);
        let generics = resolver::bounded(&signature.generics, place);
        let mut parameters = ParameterReader { kind, place, generics: &generics, errors }.read_all(signature);
        let name = &signature.ident;
        let (ident, vis, receiver, function) = match place {
            Place::Free => (name.clone(), vis.clone(), quote!(()), name.to_token_stream()),
            Place::Block(ty) => (method_type(ty, name), Visibility::Inherited, ty.clone(), quote!(<#ty>::#name)),
        };
        let output = match &signature.output {
            ReturnType::Default => quote!(()),
            ReturnType::Type(_, ty) => place.outside(ty.to_token_stream()),
        };
        let uri = |input: ParseStream<'_>| (kind == Kind::Resource).then(|| details::uri(input)).transpose();
        let attribute = format!("`#[{}]`", kind.word());
        let (uri, mut options) = Options::parse_after(&attribute, &kind.options(), uri, options, errors);
        let (rejoinder, is_async) = (options.rejoinder(errors), signature.asyncness.is_some());
        let role = match kind {
            Kind::Resolver => Role::Resolver(ResolverOptions::read(&mut options, errors)),
            Kind::Pipe | Kind::Completion => Role::Pipe(pipe::take_value(kind, name, &mut parameters, errors)),
            Kind::Tool | Kind::Prompt | Kind::Resource => {
                let mut details = details::read(kind, &mut options, uri.flatten(), attrs, name, is_async, errors);
                details.fields = place.outside(details.fields);
                Role::Item(details)
            }
        };
        options.finish(errors);
        let mut hidden = Self {
            kind,
            rejoinder,
            ident,
            vis,
            cfgs: attrs.iter().filter(|attr| attr.path().is_ident("cfg")).cloned().collect(),
            name: name.clone(),
            function,
            receiver,
            has_self,
            is_async,
            parameters,
            generics,
            gates: Vec::new(),
            output,
            role,
        };
        if let Role::Item(details) = &mut hidden.role {
            let enabled = std::mem::take(&mut details.enabled);
            hidden.put_behind(&enabled, place);
        }
        hidden
    }

    /// Adds gates.
    fn put_behind(&mut self, gates: &[Path], place: &Place) {
        for gate in gates {
            let index = self.parameters.len() + self.gates.len();
            self.gates.push(Named::new(index, gate, place, &self.generics));
        }
    }

    fn expand(&self) -> TokenStream {
        match &self.role {
            Role::Item(details) => self.item(details),
            Role::Resolver(options) => self.resolver(options),
            Role::Pipe(value) => self.pipe(value),
        }
    }

    /// Errors about the function as a whole, such as a future that is not `Send`, are reported at its name.
    fn span(&self) -> Span {
        Span::call_site().located_at(self.name.span())
    }

    /// The calls that report what a check of the graph found, each at its place.
    fn refusals(&self, check: &Ident) -> TokenStream {
        let (resolved, others): (Vec<_>, Vec<_>) = self.parameters.iter().partition(|p| p.resolver().is_some());
        let others = others.iter().map(|parameter| parameter.extent);
        let resolved = resolved.iter().filter_map(|parameter| parameter.resolver()).map(|named| named.extent);
        let places = others.chain(resolved).chain([Extent::of(&self.output)]).enumerate();
        let refusals = places.map(|(place, extent)| extent.call(quote!(#check.at), &place));
        quote!(#(#refusals;)*)
    }

    /// Fills what the call supplies and what resolvers make, for a function that is called within a walk.
    fn fill_within(&self, walk: &Ident) -> TokenStream {
        let takes = self.parameters.iter().filter_map(|parameter| parameter.take(walk));
        let resolves = resolve(&self.parameters, walk).map(|(pattern, future)| quote!(let #pattern = #future;));
        let resolved = take_resolved(&self.parameters);
        quote!(#(#takes)* #resolves #resolved)
    }

    /// Calls the function with its parameters.
    fn call(&self, receiver: &TokenStream) -> TokenStream {
        let Self { function, .. } = self;
        let names = self.generics.params.iter().map(name_of);
        let turbofish = (!self.generics.params.is_empty()).then(|| quote!(::<#(#names),*>));
        let self_argument = self.has_self.then(|| quote!(#receiver,));
        let value = matches!(self.role, Role::Pipe(_)).then(|| names::local("value"));
        let locals = value.iter().chain(self.parameters.iter().map(|parameter| &parameter.local));
        let wait = self.is_async.then(|| quote!(.await));
        quote!(#function #turbofish(#self_argument #(#locals),*)#wait)
    }

    /// The type, and a block for the code about it.
    fn with(&self, code: TokenStream) -> TokenStream {
        let Self { ident, vis, cfgs, generics, rejoinder, .. } = self;
        let (around, inner) = imports(self.parameters.iter().flat_map(FunctionParameter::named).chain(&self.gates));
        let imports = names::imports(rejoinder);
        let declared = self.parameters.iter().map(|parameter| parameter.declared(self.kind));
        // Checked before everything else, so that the first error is that one of these is not a resolver.
        let resolvers = self.parameters.iter().filter(|_| generics.params.is_empty()).filter_map(|p| p.resolver());
        let outputs: Vec<_> = resolvers.map(|resolver| resolver.member("Output")).collect();
        let outputs = (!outputs.is_empty()).then(|| {
            let options = self.parameters.iter().filter_map(FunctionParameter::check_option);
            quote!(struct __RjResolved(#(#outputs),*); #(#options)*)
        });
        let code = if inner.is_empty() {
            quote!(#around #outputs #code)
        } else {
            quote!(#around const _: () = { #inner #outputs #code };)
        };
        let struct_generics = (!generics.params.is_empty()).then(|| {
            let params = generics.params.iter().map(resolver::declared);
            quote!(<#(#params),*>)
        });
        let field = struct_generics.as_ref().map(|_| {
            let types = generics.params.iter().filter(|param| matches!(param, GenericParam::Type(_))).map(name_of);
            quote! {
                #[allow(dead_code, reason = "it only uses the type parameters")]
                __of: ::std::marker::PhantomData<fn() -> (#(#types,)*)>
            }
        });
        quote! {
            #(#cfgs)*
            #[doc(hidden)]
            #[allow(
                non_camel_case_types,
                missing_debug_implementations,
                missing_copy_implementations,
                unreachable_pub,
                reason = "it is the framework's view of the function"
            )]
            #vis struct #ident #struct_generics { #field }

            #(#cfgs)*
            #[allow(
                deprecated,
                non_snake_case,
                unused_imports,
                unused_qualifications,
                reason = "the function may be deprecated, some types are only checked, and paths are written in full"
            )]
            const _: () = {
                #imports
                use __rj::{AnyShape as _, AnyType as _};
                #(#declared)*
                #code
            };
        }
    }
}

/// The name of the hidden type of a method.
fn method_type(ty: &TokenStream, method: &Ident) -> Ident {
    let text = ty.to_string();
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()).collect();
    format_ident!("__rj_{}_{}", words.join("_"), names::wire(method), span = method.span())
}

/// A type or constant parameter, where it is used.
fn name_of(param: &GenericParam) -> TokenStream {
    match param {
        GenericParam::Type(param) => param.ident.to_token_stream(),
        GenericParam::Const(param) => param.ident.to_token_stream(),
        GenericParam::Lifetime(param) => param.lifetime.to_token_stream(),
    }
}
