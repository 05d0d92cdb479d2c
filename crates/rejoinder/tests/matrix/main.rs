//! Every feature on every transport, in both eras.

mod client;
mod ways;

/// An enum that knows its variants, so that a table made of it has them all.
macro_rules! table_of {
    ($(#[$doc:meta])* $name:ident { $($variant:ident => $shown:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum $name { $($variant),* }

        impl $name {
            pub(crate) const ALL: &[Self] = &[$(Self::$variant),*];
        }
    };
}
pub(crate) use table_of;
