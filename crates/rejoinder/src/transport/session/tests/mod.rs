mod asking;
mod calls;
mod changes;
mod client;
mod fixture;
mod http;
mod pipe;
mod streams;
