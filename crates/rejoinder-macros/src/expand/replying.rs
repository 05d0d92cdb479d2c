//! What an item returns: how that becomes its reply, and the checks of it.

use proc_macro2::TokenStream;
use quote::quote;

use super::spans::Extent;
use crate::kind::Kind;

/// How it replies. Where its return type is no reply, the part of it that is at fault is told, once.
pub(super) fn of(kind: Kind, output: &TokenStream) -> TokenStream {
    let marker = kind.marker();
    let checks = checks(kind, output);
    quote! {
        type __RjReturned = #output;
        const __RJ_REPLIES: __rj::bool = __rj::Replies::<__RjReturned, __rj::#marker>::SOUND;
        const __RJ_REPLYING: __rj::Replying<__RjReturned> =
            <__RjReturned as __rj::Replied<__rj::#marker, { __RJ_REPLIES }>>::REPLYING;
        #checks
    }
}

/// A reply may be wrapped twice, in a `Result` and in a `Reply`, and once more in `Json`.
fn checks(kind: Kind, output: &TokenStream) -> TokenStream {
    let (extent, reply, failure) = (Extent::of(output), kind.reply(), kind.failure());
    let wraps = |ty: &TokenStream| quote!(<#ty as __rj::Wraps<{ __rj::Outermost::<#ty>::LAYER }>>);
    let [outer, middle, inner] = [quote!(__RjReturned), quote!(__RjMiddle), quote!(__RjInner)];
    let [of_outer, of_middle, of_inner] = [&outer, &middle, &inner].map(wraps);
    let doubted = |part: TokenStream, name| extent.member(&part, &quote!(__rj::Doubted<{ __RJ_REPLIES }>), name);
    let errors = [&of_outer, &of_middle].map(|of| {
        let error = doubted(quote!(#of::Error), "Error");
        quote!(let _ = <#error as __rj::#failure>::into_tool_error;)
    });
    // A prompt cannot return `Json` at all.
    let (plain, carried) = if kind == Kind::Prompt {
        (inner.clone(), None)
    } else {
        let carried = doubted(quote!(#of_inner::Carried), "Reply");
        (quote!(#of_inner::Plain), Some(quote!(let _ = <#carried as __rj::Carried>::CARRIED;)))
    };
    let plain = doubted(plain, "Reply");
    quote! {
        const _: () = {
            type #middle = #of_outer::Inner;
            type #inner = #of_middle::Inner;
            #(#errors)*
            #carried
            let _ = <#plain as __rj::#reply>::RETURNED;
        };
    }
}
