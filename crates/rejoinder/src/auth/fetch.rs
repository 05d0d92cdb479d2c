//! What an issuer says, over HTTPS.

use std::{
    net::{Ipv4Addr, Ipv6Addr},
    sync::{Arc, OnceLock},
    time::Duration,
};

use ::http::{HeaderMap, Request, StatusCode, Uri};
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use rustls::{ClientConfig, RootCertStore, crypto::ring};

/// How large an answer may be.
const MOST_BYTES: usize = 1024 * 1024;

/// How long an answer may take, from the first packet to its last byte.
pub(super) const LONGEST: Duration = Duration::from_secs(10);

/// Explains why a request to the issuer failed. It never contains data of the request.
#[derive(Debug, Clone, thiserror::Error)]
pub(super) enum FetchError {
    #[error("it does not answer within {} seconds", LONGEST.as_secs())]
    Slow,
    #[error("it cannot be reached: {0}")]
    Unreachable(String),
    #[error("it answers with status {0}")]
    Status(StatusCode),
    #[error("its answer is larger than {MOST_BYTES} bytes, or breaks off")]
    Body,
    #[error("its answer is not what was expected: {0}")]
    Unexpected(&'static str),
}

/// Sends a request, and returns the headers and the body of the answer. Redirects are not followed.
pub(super) async fn fetch(request: Request<Full<Bytes>>) -> Result<(HeaderMap, Bytes), FetchError> {
    let answered = async {
        let response = client().request(request).await.map_err(|error| {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            FetchError::Unreachable(cause.unwrap_or_else(|| error.to_string()))
        })?;
        if response.status() != StatusCode::OK {
            return Err(FetchError::Status(response.status()));
        }
        let (head, body) = response.into_parts();
        let body = Limited::new(body, MOST_BYTES).collect().await.map_err(|_| FetchError::Body)?;
        Ok((head.headers, body.to_bytes()))
    };
    tokio::time::timeout(LONGEST, answered).await.unwrap_or(Err(FetchError::Slow))
}

/// One for the process, made when it is first needed.
fn client() -> &'static Client<HttpsConnector<HttpConnector>, Full<Bytes>> {
    static CLIENT: OnceLock<Client<HttpsConnector<HttpConnector>, Full<Bytes>>> = OnceLock::new();
    CLIENT.get_or_init(|| {
        // Named, because the process may have several providers, and then has no default.
        let provider = Arc::new(ring::default_provider());
        let connector = match HttpsConnectorBuilder::new().with_provider_and_native_roots(Arc::clone(&provider)) {
            Ok(builder) => builder,
            Err(error) => {
                tracing::error!(%error, "cannot read the certificates of the system, so no https:// address is trusted");
                let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
                let config = config.expect("the provider has the default versions");
                let config = config.with_root_certificates(RootCertStore::empty()).with_no_client_auth();
                HttpsConnectorBuilder::new().with_tls_config(config)
            }
        };
        // Without a pool: an issuer is asked every few minutes, and a pooled connection belongs to one runtime.
        Client::builder(TokioExecutor::new())
            .pool_max_idle_per_host(0)
            .build(connector.https_or_http().enable_http1().build())
    })
}

/// An address that may be asked: of `https`, or on this machine.
pub(super) fn trusted_url(url: &str) -> Result<Uri, String> {
    let problem = |problem| format!("`{url}` {problem}");
    let uri: Uri = url.parse().map_err(|_| problem("is not a URL"))?;
    let (Some(scheme), Some(host)) = (uri.scheme_str(), uri.host()) else {
        return Err(problem("is not a URL: write it with its scheme, as in `https://id.example.com`"));
    };
    let address = host.trim_start_matches('[').trim_end_matches(']');
    let is_loopback = host == "localhost"
        || address.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
        || address.parse::<Ipv6Addr>().is_ok_and(|address| address.is_loopback());
    match scheme {
        "https" => Ok(uri),
        "http" if is_loopback => Ok(uri),
        "http" => Err(problem("is not encrypted: only this machine's own addresses may be `http://`")),
        _ => Err(problem("is not an address of `https://`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_asked_without_encryption() {
        for url in
            ["https://id.example", "http://127.0.0.1:80/x", "http://localhost", "http://[::1]:1", "http://127.9.9.9"]
        {
            assert!(trusted_url(url).is_ok(), "{url}");
        }
        for url in [
            "http://id.example",
            "http://127.0.0.1.evil.example",
            "ftp://localhost",
            "id.example",
            "",
            "/x",
            "http://10.0.0.1",
        ] {
            assert!(trusted_url(url).is_err(), "{url}");
        }
    }
}
