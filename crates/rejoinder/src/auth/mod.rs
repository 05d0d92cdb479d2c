//! Who calls: [`Principal`], and with the feature `auth` how a server finds out over HTTP: `Auth`.

#[cfg(feature = "auth")]
mod authenticate;
mod byte_budget;
mod caller_share;
#[cfg(feature = "auth")]
mod fetch;
#[cfg(feature = "auth")]
mod introspection;
#[cfg(feature = "auth")]
mod jwks;
#[cfg(feature = "auth")]
mod jwt;
mod principal;

#[cfg(feature = "auth")]
pub use authenticate::Auth;
#[cfg(feature = "auth")]
pub(crate) use authenticate::AuthRefusal;
pub(crate) use byte_budget::{ByteBudget, HeldBytes, NoRoom};
pub(crate) use caller_share::{CallerShare, CallerShares, CallerSlot, ShareUsedUp, quarter};
pub use principal::Principal;
