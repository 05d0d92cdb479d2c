//! A parameter, as the expansion declares and fills it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Expr, ExprLit, Lit, spanned::Spanned};

use super::named::Named;
use crate::{
    errors::Extent,
    kind::Kind,
    names::local,
    options::{option, some_field, with_fields},
    parameter::{FunctionParameter, Source, is_named},
};

impl FunctionParameter {
    /// The resolver that fills it.
    pub(super) fn resolver(&self) -> Option<&Named> {
        match &self.source {
            Source::Resolved(resolver) => Some(resolver),
            _ => None,
        }
    }

    /// The function that completes it.
    fn complete(&self) -> Option<&Named> {
        match &self.source {
            Source::Argument(argument) => argument.complete.as_ref(),
            _ => None,
        }
    }

    /// The functions that its attributes name.
    pub(super) fn named(&self) -> impl Iterator<Item = &Named> {
        self.resolver().into_iter().chain(&self.pipes).chain(self.complete())
    }

    /// Whether the author left it to the type where it comes from.
    fn is_left_to_its_type(&self) -> bool {
        matches!(self.source, Source::Type) && self.borrow.is_none() && !self.is_generic
    }

    /// Whether it may be an argument, and so has a slot in the tuple of them.
    pub(super) fn has_slot(&self) -> bool {
        matches!(self.source, Source::Type | Source::Argument(_))
    }

    /// The alias of its type (``), or of what its first pipe takes (`In`), its last one makes (`Out`), or is sent (`Sent`).
    fn alias(&self, of: &str) -> Ident {
        format_ident!("__Rj{}{of}", self.index, span = Span::call_site())
    }

    /// Its type: the alias, unless it depends on type parameters.
    fn aliased(&self) -> TokenStream {
        if self.is_generic { self.ty.clone() } else { self.alias("").to_token_stream() }
    }

    /// The type of what is sent for it.
    fn sent(&self) -> TokenStream {
        if self.pipes.is_empty() { self.aliased() } else { self.alias("Sent").to_token_stream() }
    }

    /// The constant that says where it comes from.
    fn source_constant(&self) -> TokenStream {
        match self.source {
            Source::Argument(_) => quote!(__rj::source::ARGUMENT),
            Source::Injected | Source::Header(_) => quote!(__rj::source::INJECTED),
            _ if self.borrow.is_some() => quote!(__rj::source::ARGUMENT),
            // Constant evaluation does not know it, so what is not marked as an argument is injected.
            _ if self.is_generic => quote!(__rj::source::INJECTED),
            _ => format_ident!("__RJ_SOURCE_{}", self.index, span = Span::call_site()).to_token_stream(),
        }
    }

    /// The alias of its type, and the constant that says where it comes from.
    pub(super) fn declared(&self, kind: Kind) -> Option<TokenStream> {
        let (ty, alias, source) = (&self.ty, self.alias(""), self.source_constant());
        if self.resolver().is_some() || self.is_generic {
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
            let value = if kind.takes_a_value() {
                self.extent.call(quote!(__rj::source::of_pipe), &quote!(#form, #pipe_context))
            } else {
                self.extent.call(quote!(__rj::source::of), &quote!(#injected || #dep, #argument, #form))
            };
            quote!(const #source: ::std::primitive::u8 = #value;)
        });
        Some(quote!(type #alias = #ty; #source))
    }

    /// `<ty as ItemParameter<source>>::member`.
    fn member(&self, of: &str, member: &str) -> TokenStream {
        let (of, source) = (Ident::new(of, Span::call_site()), self.source_constant());
        self.extent.member(&self.ty, quote!(__rj::#of<{ #source }>), member)
    }

    /// What the argument tuple holds for it.
    pub(super) fn slot(&self) -> TokenStream {
        if self.pipes.is_empty() {
            return self.member("ItemParameter", "Slot");
        }
        let (ty, sent) = (&self.ty, self.sent());
        quote!(__rj::PipedSlot<#sent, #ty>)
    }

    /// What the author wrote about it.
    pub(super) fn param(&self) -> TokenStream {
        let (mut default, mut header, mut keywords) = (None, None, None);
        if let Source::Argument(argument) = &self.source {
            let (sent, rules) = (self.sent(), &argument.rules);
            default = argument.default.as_ref().map(|default| {
                let (at, value) = (Span::call_site().located_at(default.span()), default_value(default, &sent));
                quote_spanned! {at=>
                    __rj::ArgumentDefault::of({
                        const __RJ_DEFAULT: fn() -> #sent = || #value;
                        &__RJ_DEFAULT
                    })
                }
            });
            header = argument.header.as_ref().map(ToTokens::to_token_stream);
            keywords = (!rules.is_empty()).then(|| quote!(|| __rj::ArgumentRules::<#sent>::new() #rules .keywords()));
        }
        let fields = [
            ("description", self.description.clone()),
            ("default", default),
            ("header", header),
            ("keywords", keywords),
        ];
        with_fields(&quote!(__rj::Param), &self.name, fields.into_iter().filter_map(some_field).collect())
    }

    /// It in the graph, where no resolver fills it. `typed` is whether type parameters are in scope.
    pub(super) fn node_argument(&self, typed: bool) -> Option<TokenStream> {
        let Self { ty, name, written, extent, pipes, .. } = self;
        let source = self.source_constant();
        let node = match &self.source {
            Source::Resolved(_) => return None,
            Source::Header(header) => {
                let header = &header.name;
                quote!(__rj::NodeArgument::header(#name, #written, #header))
            }
            _ if !pipes.is_empty() || (self.is_generic && !typed) => {
                quote!(__rj::NodeArgument::untyped(#name, #written, #source))
            }
            _ if self.borrow.is_some() && !self.is_generic => {
                let alias = self.alias("");
                quote!(__rj::NodeArgument::borrowed(#name, #written, __rj::Probe::<#alias>::BY_NAME))
            }
            source_of => {
                // Where the author says which it is, the compiler says that it cannot be that.
                let of = match source_of {
                    _ if self.is_left_to_its_type() => quote!(of::<#ty, { #source }>),
                    Source::Argument(_) => quote!(argument::<#ty>),
                    _ if self.borrow.is_some() => quote!(argument::<#ty>),
                    _ => quote!(injected::<#ty>),
                };
                let of = quote_spanned!(extent.start=> __rj::NodeArgument::#of);
                quote_spanned!(extent.end=> #of(#name, #written))
            }
        };
        let nodes = pipes.iter().map(|pipe| pipe.extent.member(&pipe.ty(), quote!(__rj::Pipe), "NODE"));
        let through = (!pipes.is_empty()).then(|| quote!(.through(&[#(#nodes),*])));
        let complete = self.complete();
        let complete = complete.map(|named| named.extent.member(&named.ty(), quote!(__rj::Completes), "COMPLETE"));
        let completed = complete.map(|complete| quote!(.completed_by(#complete)));
        Some(quote!(#node #through #completed))
    }

    /// It and its resolver in the graph.
    pub(super) fn edge(&self) -> Option<TokenStream> {
        let (Self { name, written, .. }, resolver) = (self, self.resolver()?);
        let (ty, instance) = (resolver.ty(), resolver.member("instance"));
        Some(quote!(__rj::Edge::to(<#ty>::__node(), #instance, #name, #written)))
    }

    /// Checks that an `Option` is `None` where the user declines.
    pub(super) fn check_option(&self) -> Option<TokenStream> {
        let resolver = self.resolver().filter(|_| is_named(&self.ty, "Option"))?;
        let (start, output, node) = (self.extent.start, resolver.member("Output"), resolver.node());
        let outcome = quote_spanned!(start=> __rj::FromOutcome<'static, #output>);
        let is_optional = self.extent.member_of(&self.ty, outcome, "OPTIONAL");
        let check = self.extent.call(quote!(__rj::check_option), &quote!(#is_optional, #node));
        Some(quote!(const _: () = #check;))
    }

    /// That the item has it, by its name, unless another parameter is the argument of this name.
    pub(super) fn has_argument(&self, item: &Ident, all: &[Self]) -> Option<TokenStream> {
        let (name, ty) = (&self.name, self.aliased());
        let is_argument = |one: &Self| matches!(one.source, Source::Argument(_));
        let is_other = all.iter().any(|other| other.name == *name && is_argument(other)) && !is_argument(self);
        (self.resolver().is_none() && !is_other)
            .then(|| quote!(impl __rj::HasArgument<{ __rj::NodeArgument::id(#name) }> for #item { type Type = #ty; }))
    }

    /// The bound on an item that a resolver with this parameter can be used in.
    pub(super) fn fits(&self) -> TokenStream {
        if let Some(resolver) = self.resolver() {
            let ty = resolver.ty();
            return quote!(#ty: __rj::FitsIn<__RjItem, true>);
        }
        // Where an item's argument is of another type, the compiler shows this one, too.
        let (name, ty, source) = (&self.name, self.aliased(), self.source_constant());
        let private = Ident::new("__rj", self.extent.start);
        let same = quote_spanned!(self.extent.end=> #private::SameAs<#ty>);
        quote!(__RjItem: __rj::Offers<{ __rj::NodeArgument::id(#name) }, { #source }, Type<#ty>: #same>)
    }

    /// Reads the header that it is.
    fn header_value(&self, call: &TokenStream) -> Option<TokenStream> {
        let Source::Header(header) = &self.source else { return None };
        let (extent, ty) = match self.pipes.first() {
            Some(pipe) => (pipe.extent, self.sent()),
            None => (self.extent, self.ty.clone()),
        };
        let default = header.default.as_ref().map(|default| default_value(default, &ty)).map(|value| quote!(|| #value));
        let (from_header, name, default) =
            (extent.member(&ty, quote!(__rj::FromHeader<_>), "from_header"), &header.name, option(default));
        Some(quote!(#from_header(#call, #name, #default)?))
    }

    /// In an item: makes what the server supplies for it, before anything else is done.
    pub(super) fn supply(&self, call: &TokenStream) -> Option<TokenStream> {
        let (local, name) = (&self.local, &self.name);
        match (&self.source, self.header_value(call)) {
            (_, Some(value)) if self.pipes.is_empty() => Some(quote!(let #local = #value;)),
            (_, Some(value)) => {
                let slot = self.slot_variable();
                Some(quote!(let mut #slot = __rj::PipedSlot::Sent(#value);))
            }
            (Source::Type | Source::Injected, None) => {
                let supply = self.member("ItemParameter", "supply");
                Some(quote!(let #local = #supply(#call, #name).await?;))
            }
            _ => None,
        }
    }

    /// In an item: the variable of its slot, when the argument tuple is taken apart.
    pub(super) fn slot_variable(&self) -> Ident {
        match self.source {
            Source::Argument(_) if self.pipes.is_empty() => self.local.clone(),
            _ => format_ident!("{}_slot", self.local),
        }
    }

    /// In an item: makes its value from its slot and from what the server supplied.
    pub(super) fn fill(&self) -> Option<TokenStream> {
        let (local, slot) = (&self.local, self.slot_variable());
        if !self.pipes.is_empty() {
            return Some(quote!(let #local = #slot.into_value();));
        }
        let fill = self.member("ItemParameter", "fill");
        matches!(self.source, Source::Type).then(|| quote!(let #local = #fill(#slot, #local);))
    }

    /// In a resolver, pipe or completion function, which share what the call has with others: makes its value.
    pub(super) fn take(&self, walk: &Ident) -> Option<TokenStream> {
        let Self { local, name, ty, borrow, .. } = self;
        let value = match self.header_value(&quote!(#walk.call())) {
            Some(value) => value,
            None if self.resolver().is_some() => return None,
            None if borrow.is_some() => quote!(#walk.argument::<#ty>(#name)#borrow),
            None => {
                let take = self.member("ResolverParameter", "take");
                quote_spanned!(self.extent.end=> #take(#walk, #name).await?)
            }
        };
        Some(quote!(let #local = #value;))
    }
}

/// The types of what passes through pipes, and the checks that they fit together, each where the pipe is named.
pub(super) fn piped_types(parameters: &[FunctionParameter]) -> TokenStream {
    let of = |pipe: &Named, member| pipe.extent.member(&pipe.ty(), quote!(__rj::Pipe), member);
    let each = parameters.iter().filter(|parameter| !parameter.pipes.is_empty()).map(|parameter| {
        let FunctionParameter { ty, source, extent, pipes, .. } = parameter;
        let [taken, made, sent, checks] = ["In", "Out", "Sent", "Pipes"].map(|of| parameter.alias(of));
        let (takes, makes) = (of(&pipes[0], "In"), of(&pipes[pipes.len() - 1], "Out"));
        let are_pipes = pipes.iter().map(|pipe| of(pipe, "In"));
        let meet = pipes.windows(2).map(|pair| {
            let (before, after) = (of(&pair[0], "Out"), of(&pair[1], "In"));
            pair[1].extent.member(&before, quote!(__rj::PipesInto<#after>), "Value")
        });
        let is_argument = matches!(source, Source::Argument(_))
            .then(|| pipes[0].extent.member(&takes, quote!(__rj::ItemParameter<{ __rj::source::ARGUMENT }>), "Slot"));
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
pub(super) fn pass(parameters: &[FunctionParameter], arguments: &Ident, walk: &TokenStream) -> Option<TokenStream> {
    let (mut futures, mut place, walk_variable) = (Vec::new(), quote!(#arguments), local("walk"));
    for parameter in parameters {
        let (name, local) = (&parameter.name, &parameter.local);
        let (slot, field) = match &parameter.source {
            Source::Header(header) => {
                let header = &header.name;
                (parameter.slot_variable().into_token_stream(), quote!(__rj::PipeField::header(#header)))
            }
            _ => (quote!(#place.0), quote!(__rj::PipeField::argument(#name))),
        };
        if parameter.has_slot() {
            place = quote!(#place.1);
        }
        let chain = parameter.pipes.iter().rev().map(Named::ty).reduce(|after, pipe| quote!((#pipe, #after)));
        let future = chain.map(|chain| quote!(#slot.pass::<#chain>(&#walk_variable, #field)));
        futures.extend(future.map(|future| (quote!(#local), future)));
    }
    let locals: Vec<_> = futures.iter().map(|(local, _)| local.clone()).collect();
    let (pattern, future) = joined(futures)?;
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
pub(super) fn resolve(parameters: &[FunctionParameter], walk: &Ident) -> Option<(TokenStream, TokenStream)> {
    let each = parameters.iter().filter_map(|parameter| {
        let (FunctionParameter { local, name, .. }, resolver) = (parameter, parameter.resolver()?);
        let (output, resolve) = (resolver.member("Output"), resolver.member("resolve"));
        let start = parameter.extent.start;
        let outcome = quote_spanned!(start=> __rj::FromOutcome<'_, #output>);
        let is_optional = parameter.extent.member_of(&parameter.ty, outcome, "OPTIONAL");
        Some((quote!(#local), quote_spanned!(resolver.extent.end=> #resolve(&#walk, #is_optional, #name))))
    });
    joined(each.collect()).map(|(pattern, future)| (pattern, quote!(#future.await?)))
}

/// Takes the values out of what resolvers settled to.
pub(super) fn take_resolved(parameters: &[FunctionParameter]) -> TokenStream {
    let takes = parameters.iter().filter(|parameter| parameter.resolver().is_some()).map(|parameter| {
        let FunctionParameter { local, name, .. } = parameter;
        let from_settled = parameter.extent.member(&parameter.ty, quote!(__rj::FromOutcome<'_, _>), "from_settled");
        quote!(let #local = #from_settled(&#local, #name)?;)
    });
    takes.collect()
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
        let into = extent.member(&inferred, quote!(__rj::IntoDefault<#ty>), "into_default");
        quote_spanned!(at=> #into(#expression))
    } else {
        quote!(#expression)
    }
}
