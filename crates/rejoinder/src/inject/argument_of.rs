//! What can be an argument, asked for a function of each kind: each of the traits is a sentence of the compiler.

use crate::call::Argument;

macro_rules! arguments {
    ($($(#[$doc:meta])* $name:ident $message:literal $label:literal)*) => { $(
        $(#[$doc])*
        #[diagnostic::on_unimplemented(
            message = $message,
            label = $label,
            note = "an argument implements `serde::Deserialize` and `schemars::JsonSchema`, and with them `Argument`",
            note = "what the server supplies is a `Dep<T>`, a `Context`, or a type that implements `FromCall`",
            note = "what a resolver makes is taken with `#[resolve(function)]` before the parameter"
        )]
        pub trait $name {
            /// Cannot be said of what is no argument.
            const ARGUMENT: () = ();
        }

        #[diagnostic::do_not_recommend]
        impl<T: Argument> $name for T {}
    )* };
}

arguments! {
    /// An argument of a tool.
    ToolArgument "`{Self}` cannot be a tool argument" "the model cannot supply this type"
    /// An argument of a prompt.
    PromptArgument "`{Self}` cannot be a prompt argument" "the client cannot supply this type"
    /// An argument of a resource.
    ResourceArgument "`{Self}` cannot be a resource argument" "the client cannot supply this type"
    /// An argument that a resolver takes by its name.
    ResolverArgument "a resolver cannot take `{Self}`" "not an argument"
}
