//! The columns: how a client reaches the server.

use rejoinder::{
    Server,
    call::Era,
    testing::{Client, Transport},
};

crate::matrix::table_of! {
    /// A transport and an era.
    Way {
        HttpStateless => "HTTP, stateless",
        HttpSession => "HTTP, session",
        StdioStateless => "stdio, stateless",
        StdioSession => "stdio, session",
        WebSocketStateless => "WebSocket, stateless",
        WebSocketSession => "WebSocket, session",
        SseSession => "HTTP+SSE",
    }
}

impl Way {
    pub(crate) fn client(self, server: Server) -> Client {
        let (transport, era) = match self {
            Self::HttpStateless => (Transport::Http, Era::Stateless),
            Self::HttpSession => (Transport::Http, Era::Session),
            Self::StdioStateless => (Transport::Stdio, Era::Stateless),
            Self::StdioSession => (Transport::Stdio, Era::Session),
            Self::WebSocketStateless => (Transport::WebSocket, Era::Stateless),
            Self::WebSocketSession => (Transport::WebSocket, Era::Session),
            Self::SseSession => (Transport::Sse, Era::Session),
        };
        Client::new(server).transport(transport).era(era)
    }

    pub(crate) fn has_headers(self) -> bool {
        !matches!(self, Self::StdioStateless | Self::StdioSession)
    }
}
