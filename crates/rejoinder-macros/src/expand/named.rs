use std::collections::BTreeMap;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Generics, Path, PathArguments};

use super::{
    beside::twin_of_method,
    generics::{mentions, projects},
    parameter::Filled,
    spans::Extent,
};
use crate::{
    names::{self, pretty},
    signature::Place,
};

/// The path in `#[resolve(..)]`.
///
/// It is written out once, in a `use`: that takes a function as well as a type, and where there is no type of its name, the
/// name means another one that stands in a block around it. So whatever the path names, the mistake is told in our words,
/// once; and everything else that is written for the parameter speaks of an alias that is sound.
///
/// A `use` cannot tell a resolver from a crate of the same name, though. There the path is written as a type, and what is
/// wrong with it is told in the compiler's words.
///
/// The function that the path names is looked at, too: a plain one that stands nearer than a resolver of its name is what
/// was meant.
pub(super) struct Named {
    /// The path without the types of a generic resolver.
    path: TokenStream,
    /// Those types.
    arguments: TokenStream,
    /// The path as it is written, without those types.
    pub(super) written: String,
    /// What it is imported as.
    pub(super) local: Ident,
    is_imported: bool,
    /// The function that is named. That of a method goes with its type, and for a type of the language there need be none.
    pub(super) function: Option<TokenStream>,
    /// The alias, and the constant that tells what is named. Constants cannot look at what depends on type parameters, so
    /// a resolver that does has neither.
    pub(super) checked: Option<(Ident, Ident)>,
    pub(super) at: Span,
    /// Where it is written.
    pub(super) extent: Extent,
}

impl Named {
    pub(super) fn new(index: usize, path: &Path, place: &Place, generics: &Generics) -> Self {
        let extent = Extent::of(path);
        let at = Span::call_site().located_at(extent.start);
        let mut path = path.clone();
        let last = path.segments.last_mut().map(|last| std::mem::replace(&mut last.arguments, PathArguments::None));
        let arguments = place.outside(last.to_token_stream());
        let checked = (!mentions(&arguments, generics)).then(|| {
            (format_ident!("__RjResolver{index}", span = at), format_ident!("__RJ_NAMING_{index}", span = at))
        });
        let local = format_ident!("__RjNamed{index}", span = at);
        let is_imported = path.get_ident().is_none_or(|name| !names::is_taken(name));
        let written = pretty(&path);
        let path_to_type = hidden_type(&path, place);
        let function = match is_imported {
            _ if is_method(&path, place) => None,
            true => Some(local.to_token_stream()),
            false => path.get_ident().filter(|name| !names::is_type(name)).map(ToTokens::to_token_stream),
        };
        Self { path: path_to_type, arguments, written, local, is_imported, function, checked, at, extent }
    }

    /// The type that stands for it.
    pub(super) fn ty(&self) -> TokenStream {
        match &self.checked {
            Some((alias, _)) => alias.to_token_stream(),
            None => self.imported(),
        }
    }

    /// The constant that tells what it means, if constants can look at it.
    pub(super) fn naming(&self) -> Option<&Ident> {
        self.checked.as_ref().map(|(_, naming)| naming)
    }

    /// What is named, with its types.
    pub(super) fn imported(&self) -> TokenStream {
        let Self { path, arguments, local, .. } = self;
        if self.is_imported { quote!(#local #arguments) } else { quote!(#path #arguments) }
    }

    /// The same where the function's type parameters are not: its place in the graph does not depend on them.
    pub(super) fn node(&self, generics: &Generics) -> TokenStream {
        let Self { path, arguments, local, checked, at, .. } = self;
        let named = match checked {
            Some((alias, _)) => alias.to_token_stream(),
            None if !projects(arguments, generics) => self.imported(),
            None if self.is_imported => local.to_token_stream(),
            None => path.clone(),
        };
        quote_spanned!(*at=> <#named>::__node())
    }

    /// The import of a name under itself, for a block around the one with [`Named::declared`].
    ///
    /// Where there is nothing of that name, this tells it, and what the compiler then proposes in its place can be written
    /// there; what is imported from it in turn is not told again.
    fn itself(&self) -> Option<(String, TokenStream)> {
        let path: Path = syn::parse2(self.path.clone()).ok()?;
        let ident = path.get_ident().filter(|_| self.is_imported)?;
        Some((ident.to_string(), quote_spanned!(self.at=> use #ident;)))
    }

    /// What it means if it names a function without a type: for a block around the one with [`Named::declared`].
    fn fallback(&self) -> Option<TokenStream> {
        let local = &self.local;
        self.is_imported.then(|| quote!(use __rj::Unmarked as #local;))
    }

    /// The same for a name in a module, which is imported in a place of its own: there it hides nothing that the function's
    /// types may mean.
    ///
    /// Where the module has a function of that name and no type, the name means what stands around it; never a resolver of
    /// that name that is known here, which was not asked for.
    fn in_a_place_of_its_own(&self) -> Option<TokenStream> {
        let Self { path, local, at, .. } = self;
        let written: Path = syn::parse2(path.clone()).ok()?;
        let (first, last) = (&written.segments.first()?.ident, &written.segments.last()?.ident);
        let place = format_ident!("{local}Place");
        let is_needed = self.is_imported && self.checked.is_some() && self.arguments.is_empty();
        let meant = self.meant(&last.to_token_stream());
        // A path that begins with the name it ends with would begin with what stands around it.
        (is_needed && first != last && !names::is_taken(last)).then(|| {
            quote_spanned! {*at=>
                struct #place;
                const _: () = {
                    use __rj::Unmarked as #last;
                    const _: () = {
                        use #path;
                        impl __rj::Place for #place {
                            type Type = #last;
                        }
                        #meant
                    };
                };
            }
        })
    }

    /// Its names, and the check of what they mean.
    fn declared(&self) -> TokenStream {
        let Self { path, local, checked, at, .. } = self;
        let place = self.in_a_place_of_its_own();
        let is_placed = place.is_some();
        let written = match place {
            Some(_) => {
                let place = format_ident!("{local}Place");
                quote!(<#place as __rj::Place>::Type)
            }
            None => self.imported(),
        };
        let import = place.or_else(|| {
            // As if it were written there: what does not exist is told without a word of the macro.
            let local = Ident::new(&local.to_string(), self.extent.end);
            self.is_imported.then(|| quote_spanned!(*at=> use #path as #local;))
        });
        let meant = self.function.as_ref().filter(|_| !is_placed).and_then(|function| self.meant(function));
        let checks = checked.as_ref().map(|(alias, naming)| {
            let named = self.named();
            let refused = (self.function.is_none() && !is_placed).then(|| {
                let refused = self.refused(naming);
                quote!(const _: __rj::u8 = #refused;)
            });
            quote_spanned! {*at=>
                type #named = #written;
                const #naming: __rj::u8 = __rj::naming::of(
                    __rj::Naming::<#named>::RESOLVER,
                    __rj::Naming::<#named>::TOLD,
                    __rj::Naming::<#named>::GENERIC,
                    __rj::Naming::<#named>::UNGIVEN,
                );
                type #alias = <#named as __rj::Sound<{ #naming }>>::Type;
                #refused
                #meant
            }
        });
        quote!(#import #checks)
    }
}

impl Filled {
    /// The constant that tells what its resolver's name means.
    pub(super) fn naming(&self) -> TokenStream {
        match self.named.as_ref().and_then(Named::naming) {
            Some(naming) => naming.to_token_stream(),
            None => quote!(__rj::naming::SOUND),
        }
    }
}

/// What is said with the names of the parameters' resolvers.
pub(super) fn with_names(parameters: &[Filled], said: TokenStream) -> TokenStream {
    let named: Vec<&Named> = parameters.iter().filter_map(|parameter| parameter.named.as_ref()).collect();
    if named.is_empty() {
        return said;
    }
    let (fallbacks, declared) =
        (named.iter().filter_map(|named| named.fallback()), named.iter().map(|named| named.declared()));
    // Each name once, however many parameters it fills.
    let themselves: BTreeMap<String, TokenStream> = named.iter().rev().filter_map(|named| named.itself()).collect();
    let themselves = themselves.values();
    quote! {
        #(#themselves)*
        #(#fallbacks)*
        const _: () = {
            #(#declared)*
            #said
        };
    }
}

/// The hidden type of a resolver that was named there.
fn hidden_type(path: &Path, place: &Place) -> TokenStream {
    match (place, path.segments.last()) {
        (Place::Block(ty), Some(method)) if is_method(path, place) => {
            twin_of_method(ty, &method.ident).to_token_stream()
        }
        _ => place.outside(path.to_token_stream()),
    }
}

/// Whether it is a function of the group that it is named in: `Self::confirm`.
fn is_method(path: &Path, place: &Place) -> bool {
    let of_itself = path.segments.first().is_some_and(|first| first.ident == "Self");
    matches!(place, Place::Block(_)) && path.segments.len() == 2 && of_itself
}
