use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Expr, ExprLit, Generics, Lit, spanned::Spanned};

use super::{generics::mentions, named::Named, spans::Extent};
use crate::{
    kind::Kind,
    names::{local, pretty},
    options::option,
    parameter::{Argument, Parameter, Source},
    signature::Place,
    template::Variables,
};

/// A parameter with the names that the expansion gives to what belongs to it.
pub(crate) struct Filled {
    pub(super) parameter: Parameter,
    /// Its type, as it is written outside the `impl` block.
    pub(super) ty: TokenStream,
    /// An alias of its type: a type is written out as rarely as possible, since each time could be one more error.
    /// Where it depends on type parameters, the type itself.
    pub(super) alias: TokenStream,
    /// The constant that tells where it comes from.
    pub(super) source: TokenStream,
    /// Whether its type depends on the function's type parameters.
    pub(super) is_generic: bool,
    /// The variable that holds its slot, then its value.
    pub(crate) local: Ident,
    /// The place of its type.
    pub(super) at: Span,
    /// The resolver that fills it, as it is named.
    pub(super) named: Option<Named>,
    /// The type of that resolver.
    pub(super) resolver: Option<TokenStream>,
    default: Option<TokenStream>,
    complete: Option<TokenStream>,
}

impl Filled {
    pub(crate) fn new(index: usize, parameter: Parameter, place: &Place, generics: &Generics) -> Self {
        let outside = |tokens| place.outside(tokens);
        let at = Span::call_site().located_at(parameter.ty.span());
        let alias = format_ident!("__Rj{index}", span = Span::call_site());
        let (default, complete) = match &parameter.source {
            Source::Argument(argument) => (default(argument, &alias), complete(argument)),
            Source::Type | Source::Injected | Source::Resolved(_) => (None, None),
        };
        let ty = outside(parameter.borrowed().unwrap_or_else(|| parameter.ty.to_token_stream()));
        let is_generic = mentions(&ty, generics);
        let (alias, source) = if is_generic {
            // Constants cannot look at it, so what is not said to be an argument is injected.
            let argument = matches!(parameter.source, Source::Argument(_)) || parameter.borrowed().is_some();
            let source = if argument { quote!(__rj::source::ARGUMENT) } else { quote!(__rj::source::INJECTED) };
            (ty.clone(), source)
        } else {
            let source = format_ident!("__RJ_SOURCE_{index}", span = Span::call_site());
            (alias.to_token_stream(), source.to_token_stream())
        };
        let named = parameter.resolver().map(|path| Named::new(index, path, place, generics));
        Self {
            ty,
            resolver: named.as_ref().map(Named::ty),
            named,
            source,
            is_generic,
            local: local(&index.to_string()),
            default: default.map(outside),
            complete: complete.map(outside),
            alias,
            parameter,
            at,
        }
    }

    /// Everything about its type, with the one check that fails when it is mistaken.
    pub(crate) fn check(&self, kind: Kind) -> TokenStream {
        let argument = kind.argument();
        let Self { ty, alias, source, .. } = self;
        let Parameter { ident, source: said, .. } = &self.parameter;
        let is_borrowed = self.is_borrowed();
        let (function, check) = match said {
            // Its type is checked where it takes the value.
            Source::Resolved(_) => return TokenStream::new(),
            _ if self.is_generic => return TokenStream::new(),
            Source::Type if is_borrowed => ("argument", quote!(<#ty as __rj::#argument>::ARGUMENT)),
            Source::Type => {
                let suspect = self.extent().member(ty, &quote!(__rj::Suspect<{ #source }>), "Type");
                ("of_type", quote!(<#suspect as __rj::#argument>::ARGUMENT))
            }
            Source::Argument(_) => ("argument", quote!(<#ty as __rj::#argument>::ARGUMENT)),
            Source::Injected => ("injected", quote!(<#ty as __rj::Injectable>::INJECTED)),
        };
        let function = Ident::new(function, Span::call_site());
        let either = (matches!(said, Source::Type) && !is_borrowed).then(|| {
            let message = format!(
                "`{ident}: {}` can come from the model or from the server: write `#[arg]` or `#[inject]` before it",
                pretty(ty)
            );
            let refuse = self.extent().refuse(&message);
            quote! {
                const _: () = if #source == __rj::source::EITHER {
                    #refuse
                };
            }
        });
        quote! {
            type #alias = #ty;
            const #source: __rj::u8 =
                __rj::source::#function(__rj::Probe::<#alias>::INJECTED, __rj::Probe::<#alias>::ARGUMENT);
            const _: () = {
                let _ = #check;
            };
            #either
        }
    }

    /// For a resource: what its type makes an argument is a variable of the URI, and nothing else is.
    pub(super) fn check_variable(&self, variables: &Variables) -> Option<TokenStream> {
        let Parameter { ident, name, source: said, .. } = &self.parameter;
        let (mistake, why) = match said {
            Source::Resolved(_) => return None,
            _ if variables.contains(name) => {
                let why =
                    format!("the call supplies this, not the variable `{name}` of the URI: rename one of the two");
                (quote!(INJECTED), why)
            }
            _ => (quote!(ARGUMENT), variables.without(name)),
        };
        let (source, refuse) = (&self.source, Extent::of(ident).refuse(&why));
        Some(quote! {
            const _: () = if #source == __rj::source::#mistake {
                #refuse
            };
        })
    }

    /// Where its type is written.
    pub(super) fn extent(&self) -> Extent {
        Extent::of(&self.parameter.ty)
    }

    /// Whether it borrows the argument of its name.
    fn is_borrowed(&self) -> bool {
        self.parameter.borrowed().is_some()
    }

    pub(super) fn as_parameter(&self) -> TokenStream {
        let Self { alias, source, .. } = self;
        quote!(<#alias as __rj::Parameter<{ #source }>>)
    }

    /// How it gets a value of its own of what others may take, too.
    pub(super) fn another(&self) -> TokenStream {
        let extent = self.extent();
        // The compiler underlines the type that the trait is asked of: it is to be the parameter's.
        let (private, value) = (Ident::new("__rj", extent.start), Ident::new("KeptValue", extent.end));
        extent.member(&quote!(#private::#value), &quote!(__rj::Keeps<_>), "another")
    }

    /// What the argument tuple holds for it.
    pub(crate) fn slot(&self) -> TokenStream {
        if self.resolver.is_some() {
            return quote!(__rj::Injected);
        }
        let parameter = self.as_parameter();
        quote!(#parameter::Slot)
    }

    /// What it needs to have been provided, by its name.
    pub(crate) fn need(&self) -> TokenStream {
        let (name, parameter) = (&self.parameter.name, self.as_parameter());
        if self.resolver.is_some() {
            return quote!((#name, __rj::None));
        }
        quote!((#name, #parameter::need()))
    }

    /// Makes its value from its slot.
    pub(crate) fn fill(&self, call: &Ident) -> TokenStream {
        let (name, local, parameter) = (&self.parameter.name, &self.local, self.as_parameter());
        if self.resolver.is_some() {
            return TokenStream::new();
        }
        quote!(let #local = #parameter::fill(#local, &#call, #name)?;)
    }

    /// What the author wrote about it.
    pub(crate) fn param(&self) -> TokenStream {
        let Parameter { name, description, source, .. } = &self.parameter;
        let header = match source {
            Source::Argument(argument) => argument.header.as_ref(),
            Source::Type | Source::Injected | Source::Resolved(_) => None,
        };
        let [description, header, default, complete] = [
            option(description.as_ref()),
            option(header),
            option(self.default.as_ref()),
            option(self.complete.as_ref()),
        ];
        quote! {
            __rj::Param {
                name: #name,
                description: #description,
                default: #default,
                header: #header,
                complete: #complete,
            }
        }
    }
}

/// `#[arg(default = ..)]` as a function, and as another one to JSON.
///
/// A text, or the name of a constant, is converted with `Into`; any other expression is one of the argument's type, so
/// that the type of `10` or `Vec::new()` can be inferred.
fn default(argument: &Argument, alias: &Ident) -> Option<TokenStream> {
    let expression = argument.default.as_ref()?;
    let converted = match expression {
        Expr::Lit(ExprLit { lit: Lit::Str(_), .. }) => true,
        Expr::Path(path) => !path.path.is_ident("None"),
        _ => false,
    };
    let at = Span::call_site().located_at(expression.span());
    let extent = Extent::of(expression);
    let value = if converted {
        let into_default = extent.member(&inferred(extent), &quote!(__rj::DefaultOf<#alias>), "into_default");
        quote_spanned!(at=> #into_default(#expression))
    } else {
        quote!(#expression)
    };
    // As if it were written there: a type that cannot be shown is told without a word of the macro.
    let shown = Ident::new(&alias.to_string(), extent.start);
    let show_it = extent.member(&shown, &quote!(__rj::Shown), "show");
    let (make, show, made) = (local("make"), local("show"), local("made"));
    Some(quote_spanned! {at=>
        {
            fn #make() -> #alias {
                let #made: #alias = #value;
                #made
            }
            fn #show() -> __rj::Option<__rj::Value> {
                #show_it(&#make())
            }
            __rj::Default { make: &(#make as fn() -> #alias), show: #show }
        }
    })
}

/// `#[arg(complete = ..)]` as a function to a boxed future.
fn complete(argument: &Argument) -> Option<TokenStream> {
    let function = argument.complete.as_ref()?;
    let at = Span::call_site().located_at(function.span());
    let completing = local("completing");
    let extent = Extent::of(function);
    let complete = extent.member(&inferred(extent), &quote!(__rj::Completes), "complete");
    Some(quote_spanned!(at=> |#completing| #complete(#function, #completing)))
}

/// The type of what is written there, of which it is told there if it does not fit.
fn inferred(extent: Extent) -> TokenStream {
    quote_spanned!(extent.start=> _)
}

/// One for each parameter, as nested pairs: `(a, (b, ()))`.
pub(super) fn nested(span: Span, each: impl DoubleEndedIterator<Item = TokenStream>) -> TokenStream {
    each.rev().fold(quote_spanned!(span=> ()), |rest, one| quote_spanned!(span=> (#one, #rest)))
}
