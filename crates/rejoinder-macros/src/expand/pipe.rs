//! `#[pipe]` and `#[completion]`: the hidden type beside the function, which makes one value of another.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use super::HiddenType;
use crate::{
    errors::{Errors, Extent},
    kind::Kind,
    names::{self, local},
    parameter::{FunctionParameter, Source},
};

/// Takes the first parameter, which is the value, off the others. Returns its type.
pub(super) fn take_value(
    kind: Kind,
    name: &Ident,
    parameters: &mut Vec<FunctionParameter>,
    errors: &mut Errors,
) -> TokenStream {
    if parameters.is_empty() {
        let what = if kind == Kind::Pipe { "a value" } else { "a `CompletionRequest`" };
        errors.at(name, format!("a {} takes {what}: make it the first parameter", kind.word()));
        return quote!(());
    }
    let value = parameters.remove(0);
    if !matches!(value.source, Source::Type) {
        let message = format!("the first parameter of a {} is what it gets: remove the attribute", kind.word());
        errors.at(&value.ident, message);
    }
    value.ty
}

impl HiddenType {
    /// A pipe, or a completion function. `value` is the type of its first parameter, which is not among the others.
    pub(super) fn pipe(&self, value: &TokenStream) -> TokenStream {
        let Self { ident, name, parameters, output, .. } = self;
        let (name, check) = (names::wire(name), Ident::new("__RJ_CHECK", Span::call_site()));
        let arguments = parameters.iter().filter_map(|parameter| parameter.node_argument(true));
        let edges = parameters.iter().filter_map(FunctionParameter::edge);
        let (refusals, run) = (self.refusals(&check), self.run_pipe());
        let out = Extent::of(output).member(&quote!(__RjReturned), quote!(__rj::PipeReturned<{ __RJ_SHAPE }>), "Out");
        let made = Extent::of(output).member(&quote!(__RjReturned), quote!(__rj::IntoOut<{ __RJ_SHAPE }>), "Made");
        let is_pipe = self.kind == Kind::Pipe;
        let kind = if is_pipe { "pipe" } else { "completion function" };
        let completes = (!is_pipe).then(|| {
            let takes = Extent::of(value).member(
                value,
                quote!(__rj::CompletionPart<__rejoinder::call::CompletionRequest>),
                "Value",
            );
            let makes = Extent::of(output).member(
                &out,
                quote!(__rj::CompletionPart<::std::vec::Vec<::std::string::String>>),
                "Value",
            );
            quote! {
                struct __RjCompletion(#takes, #makes);

                #[automatically_derived]
                impl __rj::Completes for #ident {}
            }
        });
        self.with(quote! {
            type __RjReturned = #output;
            const __RJ_SHAPE: ::std::primitive::u8 = __rj::Shape::<__RjReturned>::OF;
            struct __RjMade(#out, #made);
            static __RJ_PIPE: __rj::ItemNode<'static> =
                __rj::ItemNode::new(#kind, #name, &[#(#arguments),*], &[#(#edges),*], false);
            const _: () = {
                const #check: __rj::Check = __RJ_PIPE.check();
                #refusals
            };

            #[automatically_derived]
            impl __rj::Pipe for #ident {
                type In = #value;
                type Out = #out;
                const NODE: &'static __rj::ItemNode<'static> = &__RJ_PIPE;

                #run
            }

            #completes
        })
    }

    fn run_pipe(&self) -> TokenStream {
        let Self { receiver, output, .. } = self;
        let [walk, value] = ["walk", "value"].map(local);
        let filled = self.fill_within(&walk);
        let returned = quote!(__RjReturned);
        let into_out = Extent::of(output).member(&returned, quote!(__rj::IntoOut<{ __RJ_SHAPE }>), "into_out");
        let called = self.call(&quote!(#walk.receiver::<#receiver>()));
        let body = quote_spanned! { self.span()=>
            async move {
                #filled
                #into_out(#called, #walk)
            }
        };
        quote! {
            #[allow(unused_variables, reason = "not every pipe needs it")]
            fn run<'a>(
                #walk: &'a __rj::Walk<'a>,
                #value: Self::In,
            ) -> impl ::std::future::Future<Output = ::std::result::Result<Self::Out, __rj::Halt>>
            + ::std::marker::Send
            + 'a {
                #body
            }
        }
    }
}
