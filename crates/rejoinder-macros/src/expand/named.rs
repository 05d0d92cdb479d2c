//! A function that is named in `#[resolve(..)]`, `#[pipe(..)]`, `#[arg(complete = ..)]` or a list such as `tools![..]`.

use std::{collections::HashSet, env, fmt::Display};

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{AngleBracketedGenericArguments, GenericArgument, Generics, Path, PathArguments};

use super::{method_type, resolver::mentions};
use crate::{errors::Extent, names, signature::Place};

/// The path to a resolver, and to the hidden type beside it.
///
/// The type is imported, because a `use` takes a function as well as a type: if no type has that name, the alias means
/// `Unmarked` from the enclosing block, and the compiler says that the function is not a resolver. A `use` cannot tell
/// a resolver from a crate of the same name, so such a word is not imported.
pub(crate) struct Named {
    /// The path to the hidden type, without the types of a generic resolver.
    path: TokenStream,
    /// Those types.
    arguments: TokenStream,
    /// The same where the function's own type parameters are not in scope: a node does not depend on them.
    arguments_of_node: TokenStream,
    /// What it is imported as, unless the word may mean more.
    local: Option<Ident>,
    /// The name, if it is one without a path. A function of this name makes the import succeed where there is none: the
    /// compiler then says that this is not a resolver, and not that an import failed.
    word: Option<Ident>,
    pub(crate) at: Span,
    /// Where it is written.
    pub(crate) extent: Extent,
}

impl Named {
    pub(crate) fn new(index: impl Display, written: &Path, place: &Place, generics: &Generics) -> Self {
        let extent = Extent::of(written);
        let mut path = written.clone();
        let arguments = match path.segments.last_mut().map(|last| std::mem::take(&mut last.arguments)) {
            Some(PathArguments::AngleBracketed(arguments)) => Some(arguments),
            _ => None,
        };
        let of_node = arguments.clone().map(|arguments| without_types(arguments, generics));
        let is_method = path.segments.len() == 2 && path.segments[0].ident == "Self";
        if let (Place::Block(ty), true) = (place, is_method) {
            path = method_type(ty, &path.segments[1].ident).into();
        }
        if path.get_ident().is_some() {
            // A `use` is refused where it could mean a local variable. With this span it cannot.
            let word = &mut path.segments[0].ident;
            word.set_span(Span::mixed_site().located_at(word.span()));
        }
        let is_imported = !path.get_ident().is_some_and(may_mean_more);
        Self {
            word: path.get_ident().cloned(),
            path: place.outside(path.to_token_stream()),
            arguments: place.outside(arguments.to_token_stream()),
            arguments_of_node: place.outside(of_node.to_token_stream()),
            local: is_imported.then(|| Ident::new(&format!("__rj{index}"), extent.start)),
            at: Span::call_site().located_at(extent.start),
            extent,
        }
    }

    /// The hidden type.
    pub(super) fn ty(&self) -> TokenStream {
        let (arguments, name) = (&self.arguments, self.name());
        quote!(#name #arguments)
    }

    /// The hidden type without its arguments.
    fn name(&self) -> TokenStream {
        self.local.as_ref().map_or_else(|| self.path.clone(), ToTokens::to_token_stream)
    }

    /// `<ty as Resolver>::member`. Where it is not one, each of these is the same error, which the compiler shows once.
    pub(super) fn member(&self, member: &str) -> TokenStream {
        self.extent.member(&self.ty(), quote!(__rejoinder::Resolver), member)
    }

    /// What the alias means where no type has that name; the function that lets the import succeed; and the import.
    pub(super) fn import(&self) -> Option<(TokenStream, Option<TokenStream>, TokenStream)> {
        let Self { path, word, at, extent, .. } = self;
        let local = self.local.as_ref()?;
        // As if it were written there: what does not exist is reported without mentioning the macro.
        let shown = Ident::new(&local.to_string(), extent.end);
        let word = word.as_ref().map(|word| quote_spanned!(*at=> fn #word() {}));
        Some((quote!(use __rj::Unmarked as #local;), word, quote_spanned!(*at=> use #path as #shown;)))
    }

    /// The node of a resolver.
    pub(super) fn node(&self) -> TokenStream {
        let (Self { arguments_of_node, at, .. }, name) = (self, self.name());
        quote_spanned!(*at=> <#name #arguments_of_node>::__node())
    }
}

/// The arguments of a path with `()` in place of what depends on type parameters.
fn without_types(mut arguments: AngleBracketedGenericArguments, generics: &Generics) -> TokenStream {
    for argument in &mut arguments.args {
        let is_const = |name: &Ident| generics.const_params().any(|param| param.ident == *name);
        if let GenericArgument::Type(ty) = argument
            && mentions(&ty.to_token_stream(), generics)
            && !matches!(&*ty, syn::Type::Path(path) if path.path.get_ident().is_some_and(is_const))
        {
            *ty = syn::parse_quote!(());
        }
    }
    arguments.to_token_stream()
}

/// Imports these resolvers: the statements around the code that names them, and those at its beginning.
pub(super) fn imports<'a>(named: impl IntoIterator<Item = &'a Named>) -> (TokenStream, TokenStream) {
    let (mut around, mut imports, mut words) = (TokenStream::new(), TokenStream::new(), HashSet::new());
    for (unmarked, word, import) in named.into_iter().filter_map(Named::import) {
        around.extend(unmarked);
        imports.extend(word.filter(|word| words.insert(word.to_string())));
        imports.extend(import);
    }
    (around, imports)
}

/// Whether a word may also mean a crate, something of the language, or the module of its file, which `use super::*` imports.
/// Then a `use` is ambiguous, and a path is not.
fn may_mean_more(word: &Ident) -> bool {
    // Types, crates, the tools that attributes name, and a macro that a `use` would need a nightly compiler for.
    const OF_THE_LANGUAGE: &str = "bool char str i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f16 f32 f64 f128 \
                                   alloc core proc_macro std test clippy diagnostic miri rust_analyzer rustfmt bench";
    if !proc_macro::is_available() {
        return false; // in a test of the expansion
    }
    // The compiler is called with `--extern name=path` for each crate. Another program may run the macro without them.
    let arguments: Vec<String> = env::args().collect();
    let after = arguments.windows(2).filter(|pair| pair[0] == "--extern").map(|pair| &*pair[1]);
    let crates = after.chain(arguments.iter().filter_map(|argument| argument.strip_prefix("--extern=")));
    let mut crates = crates.filter_map(|named| named.split('=').next()?.rsplit(':').next()).peekable();
    let (file, word) = (word.span().unwrap().local_file().unwrap_or_default().with_extension(""), names::wire(word));
    crates.peek().is_none()
        || crates.any(|name| name == word)
        || OF_THE_LANGUAGE.split(' ').any(|name| name == word)
        || file.iter().any(|part| part == &*word)
}
