use std::{fmt, net::SocketAddr, sync::Arc};

use super::Server;

/// Where a server listens, and who is told.
#[derive(Clone, Default)]
pub(crate) struct Listening {
    /// Where it listens if the command line does not say.
    pub(crate) by_default: Option<SocketAddr>,
    told: Option<Arc<dyn Fn(SocketAddr) + Send + Sync>>,
}

impl Listening {
    /// Tells whoever wants to know.
    pub(crate) fn tell(&self, address: SocketAddr) {
        if let Some(told) = &self.told {
            told(address);
        }
    }
}

impl fmt::Debug for Listening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listening").field("by_default", &self.by_default).finish_non_exhaustive()
    }
}

/// For servers that people start by hand.
impl Server {
    /// Lets [`Server::serve_from_args`] serve HTTP at this address, instead of standard input and output, where the command
    /// line names neither.
    ///
    /// ```no_run
    /// use rejoinder::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> rejoinder::Result<()> {
    /// Server::new("shop", "1.0.0").http_by_default(([127, 0, 0, 1], 8000)).serve_from_args().await
    /// # }
    /// ```
    pub fn http_by_default(mut self, address: impl Into<SocketAddr>) -> Self {
        self.options.listening.by_default = Some(address.into());
        self
    }

    /// Runs this once the server listens on HTTP, with the address: to say more than the log does, or to learn which port
    /// the system chose.
    ///
    /// It counts for the HTTP that the server serves itself, not for a [mounted](crate::McpService) one.
    ///
    /// ```no_run
    /// use rejoinder::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> rejoinder::Result<()> {
    /// let server = Server::new("shop", "1.0.0").on_listening(|address| println!("open http://{address}/mcp"));
    /// server.serve_http(([127, 0, 0, 1], 0).into()).await
    /// # }
    /// ```
    pub fn on_listening(mut self, tell: impl Fn(SocketAddr) + Send + Sync + 'static) -> Self {
        self.options.listening.told = Some(Arc::new(tell));
        self
    }
}
