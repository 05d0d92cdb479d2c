/// Defines an object of the protocol.
///
/// A member that is `None` is not written, `meta` is written as `_meta`, and members that are not known here survive in `other`.
macro_rules! object {
    ($(#[$attr:meta])* pub struct $name:ident { $($members:tt)* }) => {
        object! {
            @ {
                #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
                $(#[$attr])*
                #[serde(rename_all = "camelCase")]
                #[non_exhaustive]
                pub struct $name
            } {} $($members)*
        }
    };
    // The members before the first brace are done.
    (@ $head:tt { $($done:tt)* } $(#[$attr:meta])* pub meta: $ty:ty, $($rest:tt)*) => {
        object! {
            @ $head {
                $($done)*
                $(#[$attr])* #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")] pub meta: $ty,
            } $($rest)*
        }
    };
    (@ $head:tt { $($done:tt)* } $(#[$attr:meta])* pub $name:ident: Option<$ty:ty>, $($rest:tt)*) => {
        object! {
            @ $head {
                $($done)*
                $(#[$attr])* #[serde(skip_serializing_if = "Option::is_none")] pub $name: Option<$ty>,
            } $($rest)*
        }
    };
    (@ $head:tt { $($done:tt)* } $(#[$attr:meta])* pub $name:ident: $ty:ty, $($rest:tt)*) => {
        object! { @ $head { $($done)* $(#[$attr])* pub $name: $ty, } $($rest)* }
    };
    (@ { $($head:tt)* } { $($done:tt)* }) => {
        $($head)* {
            $($done)*
            /// Members that are not known here.
            #[serde(flatten)]
            pub other: crate::Other,
        }
    };
}
