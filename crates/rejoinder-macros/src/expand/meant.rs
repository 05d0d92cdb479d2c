//! What a path in `#[resolve(..)]` means: a resolver, and the function of that resolver.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::Generics;

use super::{named::Named, resolver::Resolver};
use crate::names::local;

impl Named {
    /// An alias of the type that is named, resolver or not.
    pub(super) fn named(&self) -> Ident {
        format_ident!("{}Type", self.local)
    }

    /// Its naming, unless that is a mistake.
    pub(super) fn refused(&self, naming: &Ident) -> TokenStream {
        let path = &self.written;
        let other = format!("`{path}` is not a resolver: write `#[resolver]` before the function");
        let ungiven = format!("`{path}` is generic: name its types, `#[resolve({path}::<..>)]`");
        let unmet = format!(
            "`{path}` is no resolver for these types: they must meet its bounds, and its value must be `Send` and `Sync`"
        );
        let [other, ungiven, unmet] = [other, ungiven, unmet].map(|why| self.extent.refuse(&why));
        quote! {
            if #naming == __rj::naming::OTHER {
                #other
            } else if #naming == __rj::naming::UNGIVEN {
                #ungiven
            } else if #naming == __rj::naming::UNMET {
                #unmet
            } else {
                #naming
            }
        }
    }

    /// The check that the function that is named is the resolver's, if constants can look at the resolver.
    ///
    /// A mistake in the name is refused here, and not in a constant of its own: a generic function is mentioned without its
    /// types, which the compiler need not know where it has been told of something else.
    pub(super) fn meant(&self, function: &TokenStream) -> Option<TokenStream> {
        let (alias, naming) = self.checked.as_ref()?;
        let (named, refused) = (self.named(), self.refused(naming));
        let check = self.check(function, &quote!(#alias), &quote!(<#named as __rj::Meant<{ #refused }>>::Type));
        Some(quote!(const _: () = #check;))
    }

    /// The same for a resolver that depends on type parameters, as an expression where they are.
    fn meant_with_types(&self) -> Option<TokenStream> {
        let function = self.function.as_ref().filter(|_| self.checked.is_none())?;
        let resolver = self.imported();
        Some(self.check(function, &resolver, &resolver))
    }

    fn check(&self, function: &TokenStream, resolver: &TokenStream, meant: &TokenStream) -> TokenStream {
        let extent = self.extent;
        let resolver = extent.member(resolver, &quote!(__rj::Sound<{ __rj::naming::SOUND }>), "Type");
        let named = extent.member(&resolver, &quote!(__rj::NamedBy<_>), "named");
        quote_spanned!(self.at=> __rj::look_at(<#meant as __rj::Resolver>::beside, &#function, #named))
    }
}

impl Resolver {
    /// The checks of resolvers that depend on its type parameters.
    pub(super) fn meant(&self, generics: &Generics) -> Option<TokenStream> {
        let named = self.parameters.iter().filter_map(|parameter| parameter.named.as_ref());
        let checks: Vec<_> = named.filter_map(Named::meant_with_types).collect();
        let (ident, (impl_generics, ty_generics, clause)) = (&self.ident, generics.split_for_impl());
        (!checks.is_empty()).then(|| {
            quote! {
                #[automatically_derived]
                impl #impl_generics #ident #ty_generics #clause {
                    #[allow(dead_code, reason = "only its types are looked at")]
                    fn __meant() {
                        #(#checks;)*
                    }
                }
            }
        })
    }

    /// Its function beside another one.
    pub(super) fn beside(&self) -> TokenStream {
        let (function, turbofish, other) = (&self.function, self.turbofish(), local("function"));
        quote! {
            fn beside<__RjFunction>(#other: __RjFunction) -> impl __rj::std::marker::Sized {
                __rj::Functions::of(&#function #turbofish, &#other)
            }
        }
    }
}
