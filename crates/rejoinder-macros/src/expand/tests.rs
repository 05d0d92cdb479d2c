//! Expansions, so that a change to what users compile shows in a diff.

use proc_macro2::TokenStream;
use quote::quote;

use super::{function, impl_block};
use crate::kind::Kind;

fn pretty(tokens: TokenStream) -> String {
    prettyplease::unparse(&syn::parse2(tokens).expect("the expansion is a list of items"))
}

#[test]
fn tool() {
    let options = quote! {
        name = "folder.delete",
        title = "Delete a folder",
        destructive,
        idempotent = false,
        icon(src = "https://example.com/a.png", sizes = "48x48")
    };
    let item = quote! {
        /// Delete a folder.
        ///
        /// With all that is in it.
        #[tracing::instrument]
        #[cfg(unix)]
        pub(crate) async fn delete_folder(
            /// Folder to delete,
            /// below the root
            #[arg(header = "Folder")]
            mut path: String,
            #[arg(name = "max-depth", default = 3)] depth: u32,
            #[arg(default = "trash")] r#where: String,
            force: Option<bool>,
            files: Dep<Files>,
            #[inject] ctx: Context,
        ) -> Result<Json<Deleted>, CallError> {
            path.push('/');
            files.delete(path).await
        }
    };
    insta::assert_snapshot!(pretty(function(Kind::Tool, options, &item)));
}

#[test]
fn prompt() {
    let item = quote! {
        fn review(#[arg(complete = paths)] path: String) -> String {
            format!("Review {path}.")
        }
    };
    insta::assert_snapshot!(pretty(function(Kind::Prompt, quote!(description = DESCRIPTION), &item)));
}

#[test]
fn resource() {
    let options = quote!("files://{path}{?page}", mime_type = "text/plain", ttl_ms = 5000, public);
    let item = quote! {
        /// A file.
        async fn file(path: String, page: Option<u32>) -> Vec<u8> {
            Vec::new()
        }
    };
    insta::assert_snapshot!(pretty(function(Kind::Resource, options, &item)));
}

#[test]
fn resolving_tool() {
    let item = quote! {
        async fn delete_folder(path: String, #[resolve(confirm)] confirm: Confirm, #[resolve(auth::user)] user: &User) {}
    };
    let expansion = pretty(function(Kind::Tool, quote!(), &item));
    // What users compile for each tool stays thin: logic belongs into the library.
    assert!(expansion.lines().count() <= 200, "{} lines for a tool with three parameters", expansion.lines().count());
    insta::assert_snapshot!(expansion);
}

#[test]
fn a_resolver() {
    let item = quote! {
        /// Asks.
        pub async fn confirm(path: &str, depth: u32, #[resolve(auth::user)] user: &User) -> Result<Ask<Confirm>, CallError> {
            Ok(Ask::user(path))
        }
    };
    insta::assert_snapshot!(pretty(function(Kind::Resolver, quote!(key = "sure"), &item)));
}

#[test]
fn piped_tool() {
    let item = quote! {
        fn greet(
            #[arg(default = "ada")] #[pipe(trim, find_user)] user: User,
            #[header("x-tenant")] #[pipe(trim)] tenant: Option<String>,
        ) -> String {
            user.name
        }
    };
    insta::assert_snapshot!(pretty(function(Kind::Tool, quote!(), &item)));
}

#[test]
fn a_pipe() {
    let item = quote! {
        async fn find_user(
            name: String,
            context: PipeContext,
            #[header] x_tenant: String,
            #[resolve(users)] users: &Users,
        ) -> Result<User, FieldError> {
            users.find(name).await
        }
    };
    insta::assert_snapshot!(pretty(function(Kind::Pipe, quote!(), &item)));
}

#[test]
fn a_generic_resolver() {
    let item = quote! {
        async fn load<T: Entity>(id: u64, store: Dep<Store<T>>, #[arg] like: T) -> Result<Vec<T>, CallError> {
            store.load(id, like).await
        }
    };
    insta::assert_snapshot!(pretty(function(Kind::Resolver, quote!(), &item)));
}

#[test]
fn a_form() {
    let item = quote! {
        struct Order {
            /// What to buy
            #[elicit(min_length = 1, title = "Item")]
            item: String,
            #[elicit(min = 1, max = 9, default = 1)]
            count: u32,
            wrapped: Option<bool>,
            #[elicit(max_items = 2)]
            extras: Vec<Extra>,
        }
    };
    insta::assert_snapshot!(pretty(crate::elicit::form(item)));
}

#[test]
fn a_choice() {
    let item = quote! {
        #[elicit(rename_all = "snake_case")]
        enum Extra {
            RedRibbon,
            #[elicit(name = "card", title = "A card")]
            Card,
        }
    };
    insta::assert_snapshot!(pretty(crate::elicit::choice(item)));
}

#[test]
fn group() {
    let item = quote! {
        impl Shop {
            /// Buy something.
            #[tool(read_only = false)]
            async fn buy(&self, order: Order<Self>) -> Json<Self> {
                self.clone().into()
            }

            #[cfg(feature = "ads")]
            #[tool]
            fn advertise() {}

            #[prompt]
            fn pitch(&self, #[arg(default = Self::ITEM)] item: String) -> String {
                item
            }

            fn other(&self) {}
        }
    };
    insta::assert_snapshot!(pretty(impl_block(quote!(), &item)));
}

#[test]
fn a_mistaken_tool_keeps_its_function() {
    let item = quote! {
        fn shout(word: &str) -> String {
            word.to_uppercase()
        }
    };
    insta::assert_snapshot!(pretty(function(Kind::Tool, quote!(), &item)));
}

/// One call of a `macro_rules!` macro may declare both, in two bodies: in one module, at one line.
#[test]
fn two_resolvers_of_one_name_are_two_nodes() {
    let item = quote!(
        fn twice() -> u8 {
            2
        }
    );
    let [first, second] = [(), ()].map(|()| function(Kind::Resolver, quote!(), &item).to_string());
    assert_ne!(first, second);
}
