mod asking;
mod background;
mod calls;
mod changes;
mod client;
mod fixture;
mod http;
mod older;
mod peers;
mod pipe;
#[cfg(unix)]
mod signals;
mod stopping;
mod streams;
mod untaken;
pub(super) mod waiting;
