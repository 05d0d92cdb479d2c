mod asking;
mod background;
mod calls;
mod changes;
mod client;
mod fixture;
mod http;
mod older;
#[cfg(all(feature = "ws", feature = "sse"))]
mod peers;
mod pipe;
#[cfg(all(unix, feature = "stdio"))]
mod printing;
#[cfg(all(unix, feature = "cli", feature = "ws", feature = "sse"))]
mod signals;
#[cfg(all(feature = "ws", feature = "sse"))]
mod stopping;
mod streams;
mod untaken;
pub(super) mod waiting;
