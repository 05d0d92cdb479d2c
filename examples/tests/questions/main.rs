//! Questions for real: programs of this package, asked over pipes and sockets by clients that others wrote.

mod calls;
mod fastmcp_tasks;
mod person;
mod program;
mod proxy;
mod python_sdk;
mod replicas;
mod rust_sdk;
mod rust_sdk_tasks;
mod upgrade;
