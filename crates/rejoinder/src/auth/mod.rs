//! Who calls: [`Principal`], and with the feature `auth` how a server finds out over HTTP: `Auth`.

#[cfg(feature = "auth")]
mod authenticate;
mod budget;
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
pub(crate) use authenticate::{AuthRefusal, sibling};
pub(crate) use budget::{Budget, BudgetFull, Budgets, CALLS, Held, quarter};
pub use principal::Principal;
pub(crate) use principal::is_scope;
