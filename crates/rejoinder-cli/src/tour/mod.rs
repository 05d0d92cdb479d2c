//! The tour: a small server that shows what there is, for a newcomer to call and to read.

mod notes;
mod prompts;
mod tools;

use rejoinder::prelude::*;

pub use notes::Notes;

/// The tour's server.
pub fn server() -> Server {
    Server::new("rejoinder-tour", env!("CARGO_PKG_VERSION"))
        .title("The rejoinder tour")
        .description("The tour: a small MCP server that shows what rejoinder offers")
        .instructions("Small examples of everything rejoinder offers. Start with the tool `add`.")
        .provide(Notes::default())
        .tools(tools![tools::add, tools::count_to, tools::roll, tools::write_note, tools::delete_note])
        .prompts(prompts![prompts::review])
        .resources(resources![notes::index, notes::note])
}
