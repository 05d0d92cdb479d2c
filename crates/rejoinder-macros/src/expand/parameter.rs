//! A parameter, as the expansion declares and fills it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Expr, ExprLit, Generics, Lit, Path, spanned::Spanned};

use super::{named::Named, resolver::mentions};
use crate::{
    errors::Extent,
    kind::Kind,
    names::{self, local, pretty},
    options::{option, some_field, with_fields},
    parameter::{ArgumentOptions, Borrowed, FunctionParameter, Source},
    signature::Place,
};

/// A parameter with the names that the expansion gives to what belongs to it.
pub(crate) struct Filled {
    pub(crate) parameter: FunctionParameter,
    /// Its type, or that of the argument that it borrows, as it is written outside the `impl` block.
    pub(super) ty: TokenStream,
    /// An alias of that type; the type itself where it depends on type parameters.
    alias: TokenStream,
    /// The constant that says where it comes from.
    source: TokenStream,
    /// Whether its type depends on the function's type parameters.
    is_generic: bool,
    /// The variable that holds its value.
    pub(super) local: Ident,
    /// Where its type is written.
    pub(super) extent: Extent,
    /// The resolver that fills it.
    pub(super) resolver: Option<Named>,
    /// What passes through pipes.
    pub(super) piped: Option<PipeList>,
    /// Of what kind the function is.
    kind: Kind,
    default: Option<TokenStream>,
    /// `#[arg(complete = ..)]`.
    complete: Option<Named>,
    /// What makes the keywords of its schema.
    keywords: Option<TokenStream>,
}

impl Filled {
    pub(super) fn new(
        kind: Kind,
        index: usize,
        parameter: FunctionParameter,
        place: &Place,
        generics: &Generics,
    ) -> Self {
        let outside = |tokens| place.outside(tokens);
        let borrowed = parameter.borrowed().map(|borrowed| borrowed.ty);
        let ty = outside(borrowed.unwrap_or_else(|| parameter.ty.to_token_stream()));
        let is_generic = mentions(&ty, generics);
        let alias = format_ident!("__Rj{index}", span = Span::call_site());
        let piped = PipeList::new(index, &parameter.pipes, place, generics);
        let sent = piped.as_ref().map(|piped| piped.alias("Sent"));
        let (default, complete, keywords) = match &parameter.source {
            Source::Argument(argument) => {
                let complete = argument.complete.as_ref();
                let complete = complete.map(|path| Named::new(format!("{index}_complete"), path, place, generics));
                let sent = sent.as_ref().unwrap_or(&alias);
                (default(argument, sent), complete, keywords(argument, sent))
            }
            Source::Header(header) => {
                let ty = sent.as_ref().map_or_else(|| ty.clone(), ToTokens::to_token_stream);
                (header.default.as_ref().map(|default| default_value(default, &ty)), None, None)
            }
            _ => (None, None, None),
        };
        let source = match parameter.source {
            Source::Argument(_) => quote!(__rj::source::ARGUMENT),
            Source::Injected | Source::Header(_) => quote!(__rj::source::INJECTED),
            _ if parameter.borrowed().is_some() => quote!(__rj::source::ARGUMENT),
            // Constant evaluation does not know it, so what is not marked as an argument is injected.
            _ if is_generic => quote!(__rj::source::INJECTED),
            _ => format_ident!("__RJ_SOURCE_{index}", span = Span::call_site()).to_token_stream(),
        };
        Self {
            alias: if is_generic { ty.clone() } else { alias.to_token_stream() },
            ty,
            source,
            is_generic,
            local: local(&index.to_string()),
            extent: Extent::of(&parameter.ty),
            resolver: parameter.resolver().map(|path| Named::new(index, path, place, generics)),
            default: default.map(outside),
            keywords: keywords.map(outside),
            complete,
            piped,
            kind,
            parameter,
        }
    }

    /// The functions that its attributes name.
    pub(super) fn named(&self) -> impl Iterator<Item = &Named> {
        self.resolver.iter().chain(self.piped.iter().flat_map(|piped| &piped.pipes)).chain(&self.complete)
    }

    /// Whether the author left it to the type where it comes from.
    fn is_left_to_its_type(&self) -> bool {
        matches!(self.parameter.source, Source::Type) && self.parameter.borrowed().is_none() && !self.is_generic
    }

    /// Whether it may be an argument, and so has a slot in the tuple of them.
    pub(super) fn has_slot(&self) -> bool {
        matches!(self.parameter.source, Source::Type | Source::Argument(_))
    }

    /// The alias of its type, and the constant that says where it comes from.
    pub(super) fn declared(&self) -> Option<TokenStream> {
        let Self { ty, alias, source, .. } = self;
        if self.resolver.is_some() || self.is_generic {
            return None;
        }
        let source = self.is_left_to_its_type().then(|| {
            // Where the type borrows what is read, the compiler reports it here.
            let probe = |answer: &str| {
                let answer = Ident::new(answer, self.extent.start);
                quote_spanned!(self.extent.start=> __rj::Probe::<#alias>::#answer)
            };
            let [injected, dep, argument, form, pipe_context] =
                ["INJECTED", "DEP", "ARGUMENT", "FORM", "PIPE_CONTEXT"].map(probe);
            let value = if self.kind.takes_a_value() {
                self.extent.call(quote!(__rj::source::of_pipe), &quote!(#injected || #dep, #form, #pipe_context))
            } else {
                self.extent.call(quote!(__rj::source::of), &quote!(#injected || #dep, #argument, #form))
            };
            quote!(const #source: ::std::primitive::u8 = #value;)
        });
        Some(quote!(type #alias = #ty; #source))
    }

    /// `<ty as Parameter<source>>::member`.
    fn member(&self, of: &str, member: &str) -> TokenStream {
        let (of, source) = (Ident::new(of, Span::call_site()), &self.source);
        self.extent.member(&self.ty, quote!(__rj::#of<{ #source }>), member)
    }

    /// What the argument tuple holds for it.
    pub(super) fn slot(&self) -> TokenStream {
        if let Some(piped) = &self.piped {
            let (ty, sent) = (&self.ty, piped.alias("Sent"));
            return quote!(__rj::PipedSlot<#sent, #ty>);
        }
        self.member("Parameter", "Slot")
    }

    /// What the author wrote about it.
    pub(super) fn param(&self) -> TokenStream {
        let FunctionParameter { name, description, source, .. } = &self.parameter;
        let header = match source {
            Source::Argument(argument) => argument.header.as_ref().map(ToTokens::to_token_stream),
            _ => None,
        };
        let complete = self.complete.as_ref();
        let complete = complete.map(|named| named.extent.member(&named.ty(), quote!(__rj::Completes), "COMPLETE"));
        let (default, keywords) = (self.default.clone(), self.keywords.clone());
        let fields = [
            ("description", description.clone()),
            ("default", default),
            ("header", header),
            ("complete", complete),
            ("keywords", keywords),
        ];
        with_fields(&quote!(__rj::Param), name, fields.into_iter().filter_map(some_field).collect())
    }

    /// It in the graph, where no resolver fills it. `typed` is whether type parameters are in scope.
    pub(super) fn node_argument(&self, typed: bool) -> Option<TokenStream> {
        let Self { ty, source, .. } = self;
        let (name, written) = (&self.parameter.name, pretty(&self.parameter.ty));
        if self.resolver.is_some() {
            return None;
        }
        let through = self.piped.as_ref().map(|piped| {
            let nodes = piped.pipes.iter().map(|pipe| pipe.extent.member(&pipe.ty(), quote!(__rj::Pipe), "NODE"));
            quote!(.through(&[#(#nodes),*]))
        });
        if let Source::Header(header) = &self.parameter.source {
            let header = &header.name;
            return Some(quote!(__rj::NodeArgument::header(#name, #written, #header) #through));
        }
        if through.is_some() {
            return Some(quote!(__rj::NodeArgument::untyped(#name, #written, #source) #through));
        }
        if self.is_generic && !typed {
            return Some(quote!(__rj::NodeArgument::untyped(#name, #written, #source)));
        }
        if self.parameter.borrowed().is_some() && !self.is_generic {
            let alias = &self.alias;
            return Some(quote!(__rj::NodeArgument::borrowed(#name, #written, __rj::Probe::<#alias>::BY_NAME)));
        }
        let start = self.extent.start;
        // Where the author says which it is, the compiler says that it cannot be that.
        let node = match self.parameter.source {
            _ if self.kind.takes_a_value() => quote_spanned!(start=> __rj::NodeArgument::of_pipe::<#ty, { #source }>),
            _ if self.is_left_to_its_type() => quote_spanned!(start=> __rj::NodeArgument::of::<#ty, { #source }>),
            Source::Type | Source::Injected if self.parameter.borrowed().is_none() => {
                quote_spanned!(start=> __rj::NodeArgument::injected::<#ty>)
            }
            _ => quote_spanned!(start=> __rj::NodeArgument::argument::<#ty>),
        };
        Some(quote_spanned!(self.extent.end=> #node(#name, #written)))
    }

    /// It and its resolver in the graph.
    pub(super) fn edge(&self) -> Option<TokenStream> {
        let resolver = self.resolver.as_ref()?;
        let (ty, name, written) = (resolver.ty(), &self.parameter.name, pretty(&self.parameter.ty));
        Some(quote!(__rj::Edge::to::<#ty>(<#ty>::__node(), #name, #written)))
    }

    /// That the item has it, by its name, unless another parameter is the argument of this name.
    pub(super) fn has_argument(&self, item: &Ident, all: &[Self]) -> Option<TokenStream> {
        let (name, alias) = (&self.parameter.name, &self.alias);
        let is_argument = |filled: &Self| matches!(filled.parameter.source, Source::Argument(_));
        let is_other =
            all.iter().any(|other| other.parameter.name == *name && is_argument(other)) && !is_argument(self);
        (self.resolver.is_none() && !is_other).then(
            || quote!(impl __rj::HasArgument<{ __rj::NodeArgument::id(#name) }> for #item { type Type = #alias; }),
        )
    }

    /// The bound on an item that a resolver with this parameter can be used in.
    pub(super) fn fits(&self) -> TokenStream {
        let Self { alias, source, resolver, .. } = self;
        if let Some(resolver) = resolver {
            let ty = resolver.ty();
            return quote!(#ty: __rj::FitsIn<__RjItem, true>);
        }
        // Where an item's argument is of another type, the compiler shows this one, too.
        let name = &self.parameter.name;
        let private = Ident::new("__rj", self.extent.start);
        let same = quote_spanned!(self.extent.end=> #private::SameAs<#alias>);
        quote!(__RjItem: __rj::Offers<{ __rj::NodeArgument::id(#name) }, { #source }, Type<#alias>: #same>)
    }

    /// Makes what the server supplies for it, before anything else is done.
    pub(super) fn supply(&self, call: &TokenStream) -> Option<TokenStream> {
        let (local, name, supply) = (&self.local, &self.parameter.name, self.member("Parameter", "supply"));
        if let Source::Header(header) = &self.parameter.source {
            let (header, default) = (&header.name, option(self.default.as_ref().map(|value| quote!(|| #value))));
            let from_header = |extent: Extent, ty: &dyn ToTokens| {
                let from_header = extent.member(&ty.to_token_stream(), quote!(__rj::FromHeader<_>), "from_header");
                quote!(#from_header(#call, #header, #default)?)
            };
            let Some(piped) = &self.piped else {
                let value = from_header(self.extent, &self.ty);
                return Some(quote!(let #local = #value;));
            };
            let (slot, value) = (self.slot_variable(), from_header(piped.pipes[0].extent, &piped.alias("Sent")));
            return Some(quote!(let mut #slot = __rj::PipedSlot::Sent(#value);));
        }
        if self.kind.takes_a_value() {
            let (supply, field) = (self.member("PipeParameter", "supply"), names::local("field"));
            return self.resolver.is_none().then(|| quote!(let #local = #supply(#call, #field, #name).await?;));
        }
        let may_be_injected = matches!(self.parameter.source, Source::Type | Source::Injected);
        (may_be_injected && self.parameter.borrowed().is_none())
            .then(|| quote!(let #local = #supply(#call, #name).await?;))
    }

    /// The variable of its slot, when the argument tuple is taken apart.
    pub(super) fn slot_variable(&self) -> Ident {
        match self.parameter.source {
            Source::Argument(_) if self.piped.is_none() => self.local.clone(),
            _ => format_ident!("{}_slot", self.local),
        }
    }

    /// Makes its value from its slot and from what the server supplied.
    pub(super) fn fill(&self) -> Option<TokenStream> {
        let (local, slot, fill) = (&self.local, self.slot_variable(), self.member("Parameter", "fill"));
        if self.piped.is_some() {
            return Some(quote!(let #local = #slot.into_value();));
        }
        matches!(self.parameter.source, Source::Type).then(|| quote!(let #local = #fill(#slot, #local);))
    }

    /// The same in a resolver, which shares the item's arguments with others.
    pub(super) fn fill_shared(&self, walk: &Ident) -> Option<TokenStream> {
        let Self { local, ty, .. } = self;
        let (name, fill) = (&self.parameter.name, self.member("ResolverParameter", "fill_shared"));
        if let Some(Borrowed { borrow, .. }) = self.parameter.borrowed() {
            return Some(quote!(let #local = #walk.argument::<#ty>(#name)#borrow;));
        }
        match self.parameter.source {
            Source::Resolved(_) | Source::Injected | Source::Header(_) => None,
            Source::Type => Some(quote!(let #local = #fill(#walk, #name, #local);)),
            Source::Argument(_) => Some(quote!(let #local = #fill(#walk, #name, ());)),
        }
    }
}

/// The pipes that a parameter passes through.
pub(super) struct PipeList {
    index: usize,
    pub(super) pipes: Vec<Named>,
}

impl PipeList {
    fn new(index: usize, paths: &[Path], place: &Place, generics: &Generics) -> Option<Self> {
        let named = |(n, path)| Named::new(format!("{index}_{n}"), path, place, generics);
        (!paths.is_empty()).then(|| Self { index, pipes: paths.iter().enumerate().map(named).collect() })
    }

    /// The alias of what the first pipe takes (`In`), of what the last one makes (`Out`), or of what is sent (`Sent`).
    fn alias(&self, of: &str) -> Ident {
        format_ident!("__Rj{}{of}", self.index, span = Span::call_site())
    }

    /// A type of a pipe.
    fn member(pipe: &Named, member: &str) -> TokenStream {
        pipe.extent.member(&pipe.ty(), quote!(__rj::Pipe), member)
    }
}

/// The types of what passes through pipes, and the checks that they fit together, each where the pipe is named.
pub(super) fn piped_types(parameters: &[Filled]) -> TokenStream {
    let each = parameters.iter().filter_map(|parameter| Some((parameter, parameter.piped.as_ref()?)));
    let each = each.map(|(Filled { ty, parameter, extent, .. }, piped)| {
        let [taken, made, sent, checks] = ["In", "Out", "Sent", "Pipes"].map(|of| piped.alias(of));
        let (first, last) = (&piped.pipes[0], &piped.pipes[piped.pipes.len() - 1]);
        let (takes, makes) = (PipeList::member(first, "In"), PipeList::member(last, "Out"));
        let are_pipes = piped.pipes.iter().map(|pipe| PipeList::member(pipe, "In"));
        let meet = piped.pipes.windows(2).map(|pair| {
            let (before, after) = (PipeList::member(&pair[0], "Out"), PipeList::member(&pair[1], "In"));
            pair[1].extent.member(&before, quote!(__rj::PipesInto<#after>), "Value")
        });
        let is_argument = matches!(parameter.source, Source::Argument(_))
            .then(|| first.extent.member(&takes, quote!(__rj::Parameter<{ __rj::source::ARGUMENT }>), "Slot"));
        let is_argument = is_argument.iter();
        let (is_sent, shown) =
            (extent.member(ty, quote!(__rj::Piped<#made>), "Sent"), Ident::new(&taken.to_string(), extent.end));
        let is_sent = quote_spanned!(extent.end=> #is_sent<#shown>);
        quote! {
            struct #checks(#(#are_pipes,)* #(#meet,)* #(#is_argument,)* #is_sent);
            type #taken = #takes;
            type #made = #makes;
            type #sent = #is_sent;
        }
    });
    each.collect()
}

/// Lets values pass through their pipes, concurrently, and puts what comes out into their slots.
pub(super) fn pass(parameters: &[Filled], arguments: &Ident, walk: &TokenStream) -> Option<TokenStream> {
    let (mut slots, mut place) = (Vec::new(), quote!(#arguments));
    for parameter in parameters {
        let Some(piped) = &parameter.piped else {
            if parameter.has_slot() {
                place = quote!(#place.1);
            }
            continue;
        };
        let name = &parameter.parameter.name;
        let (slot, field) = match &parameter.parameter.source {
            Source::Header(header) => {
                let header = &header.name;
                (parameter.slot_variable().into_token_stream(), quote!(__rj::PipeField::header(#header)))
            }
            _ => {
                let slot = quote!(#place.0);
                place = quote!(#place.1);
                (slot, quote!(__rj::PipeField::argument(#name)))
            }
        };
        slots.push((parameter, piped, slot, field));
    }
    if slots.is_empty() {
        return None;
    }
    let walk_variable = local("walk");
    let locals: Vec<_> = slots.iter().map(|(Filled { local, .. }, ..)| local).collect();
    let futures = slots.iter().map(|(Filled { local, .. }, piped, slot, field)| {
        let chain = piped.pipes.iter().rev().map(Named::ty).reduce(|after, pipe| quote!(#pipe, (#after,)));
        (quote!(#local), quote!(#slot.pass::<(#chain,)>(&#walk_variable, #field)))
    });
    let (pattern, future) = joined(futures.collect())?;
    Some(quote! {
        let #pattern = {
            let #walk_variable = #walk;
            #future.await?
        };
        __rj::finish_pipes([#(#locals),*])?;
    })
}

/// Waits for all of these futures, each with the pattern for its value.
fn joined(each: Vec<(TokenStream, TokenStream)>) -> Option<(TokenStream, TokenStream)> {
    each.into_iter().rev().reduce(|(patterns, futures), (pattern, future)| {
        (quote!((#pattern, #patterns)), quote!(__rj::try_join(#future, #futures)))
    })
}

/// Runs the resolvers of these parameters concurrently. What is left of each is in the variable of its parameter.
pub(super) fn resolve(parameters: &[Filled], walk: &Ident) -> Option<(TokenStream, TokenStream)> {
    let each = parameters.iter().filter_map(|parameter| {
        let (local, name, resolver) = (&parameter.local, &parameter.parameter.name, parameter.resolver.as_ref()?);
        let (at, ty) = (resolver.at, resolver.ty());
        let outcome = quote!(__rj::FromOutcome<'_, <#ty as __rejoinder::Resolver>::Output>);
        let is_optional = parameter.extent.member(&parameter.ty, outcome, "OPTIONAL");
        Some((quote!(#local), quote_spanned!(at=> #walk.resolve::<#ty>(#is_optional, #name))))
    });
    joined(each.collect()).map(|(pattern, future)| (pattern, quote!(#future.await?)))
}

/// Takes the values out of what resolvers settled to.
pub(super) fn take(parameters: &[Filled]) -> TokenStream {
    let takes = parameters.iter().filter(|parameter| parameter.resolver.is_some()).map(|parameter| {
        let (local, name) = (&parameter.local, &parameter.parameter.name);
        let from_settled = parameter.extent.member(&parameter.ty, quote!(__rj::FromOutcome<'_, _>), "from_settled");
        quote!(let #local = #from_settled(&#local, #name)?;)
    });
    takes.collect()
}

/// `#[arg(default = ..)]`.
fn default(argument: &ArgumentOptions, alias: &Ident) -> Option<TokenStream> {
    let expression = argument.default.as_ref()?;
    let (at, value) = (Span::call_site().located_at(expression.span()), default_value(expression, alias));
    Some(quote_spanned! {at=>
        __rj::ArgumentDefault::of({
            const __RJ_DEFAULT: fn() -> #alias = || #value;
            &__RJ_DEFAULT
        })
    })
}

/// The value of `default = ..`.
///
/// A text, or the name of a constant, is converted with `Into`; any other expression is one of the argument's type, so
/// that the type of `10` or `Vec::new()` can be inferred.
fn default_value(expression: &Expr, ty: &impl ToTokens) -> TokenStream {
    let converted = match expression {
        Expr::Lit(ExprLit { lit: Lit::Str(_), .. }) => true,
        Expr::Path(path) => !path.path.is_ident("None"),
        _ => false,
    };
    let at = Span::call_site().located_at(expression.span());
    if converted {
        let extent = Extent::of(expression);
        let inferred = quote_spanned!(extent.start=> _);
        let into = extent.member(&inferred, quote!(::std::convert::Into<#ty>), "into");
        quote_spanned!(at=> #into(#expression))
    } else {
        quote!(#expression)
    }
}

/// The constraints of `#[arg(..)]` as a function to the keywords of the argument's schema.
fn keywords(argument: &ArgumentOptions, alias: &Ident) -> Option<TokenStream> {
    let rules = &argument.rules;
    (!rules.is_empty()).then(|| quote!(|| __rj::ArgumentRules::<#alias>::new() #rules .keywords()))
}
