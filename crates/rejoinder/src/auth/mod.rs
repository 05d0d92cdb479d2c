//! Who calls: [`Principal`], and how a server learns who it is.

mod principal;

pub use principal::Principal;
