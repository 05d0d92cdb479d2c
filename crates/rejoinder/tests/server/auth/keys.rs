//! The keys of an issuer over time, and over `https`.

use std::{env, net::SocketAddr, path::Path, process::Command, sync::Arc, time::Duration};

use rejoinder::http::McpService;
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

use crate::{
    auth::{
        issuer::{Answer, Issuer},
        service, whoami_with,
    },
    logged::Logged,
};

/// Lets time pass for timeouts, and for what is kept for a while.
pub(crate) async fn pass(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

/// Sends a token that was never sent before; the status.
async fn fresh_token(service: &McpService, issuer: &Issuer, number: u32) -> u16 {
    let token = issuer.token_with(json!({ "jti": number }));
    whoami_with(service, &format!("Bearer {token}")).await.status.as_u16()
}

/// Waits until the issuer has been asked that often.
async fn asked(issuer: &Issuer, times: usize) {
    let waiting = async {
        while issuer.fetches() < times {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), waiting).await.expect("the keys are fetched");
}

const DAY: u64 = 24 * 60 * 60;

#[tokio::test]
async fn keys_are_kept_as_long_as_the_issuer_says_within_bounds() {
    for (control, seconds) in [
        ("max-age=600", 600),
        ("public, max-age=\"900\", must-revalidate", 900),
        ("max-age=0", 60),
        ("no-store", 300),
        ("max-age=never", 300),
        ("max-age=99999999999", DAY),
    ] {
        let issuer = Issuer::start().await;
        issuer.answer("/keys", Answer::Kept(issuer.jwks(), control));
        let service = service(issuer.auth());
        assert_eq!(fresh_token(&service, &issuer, 1).await, 200);
        pass(Duration::from_secs(seconds - 30)).await;
        assert_eq!(fresh_token(&service, &issuer, 2).await, 200);
        assert_eq!(issuer.fetches(), 1, "{control}: they are fresh");
        pass(Duration::from_secs(31)).await;
        assert_eq!(fresh_token(&service, &issuer, 3).await, 200, "{control}: nobody waits for the new ones");
        asked(&issuer, 2).await;
    }
}

#[tokio::test]
async fn keys_of_an_issuer_that_is_down_are_used_for_another_day() {
    let issuer = Issuer::start().await;
    let service = service(issuer.auth());
    assert_eq!(fresh_token(&service, &issuer, 1).await, 200);
    issuer.answer("/keys", Answer::Status(500));
    pass(Duration::from_secs(601)).await;
    assert_eq!(fresh_token(&service, &issuer, 2).await, 200);
    asked(&issuer, 2).await;
    pass(Duration::from_secs(DAY - 60)).await;
    assert_eq!(fresh_token(&service, &issuer, 3).await, 200, "still");
    pass(Duration::from_secs(120)).await;
    let (logged, _guard) = Logged::here();
    assert_eq!(fresh_token(&service, &issuer, 4).await, 503, "no longer");
    assert!(logged.text().contains("its credentials cannot be checked now"), "{}", logged.text());
    issuer.answer("/keys", Answer::Json(issuer.jwks()));
    pass(Duration::from_secs(6)).await;
    assert_eq!(fresh_token(&service, &issuer, 5).await, 200, "it is up again");
}

#[tokio::test]
async fn a_key_that_the_issuer_withdraws_is_not_used_when_its_time_is_over() {
    let (issuer, next) = (Issuer::start().await, Issuer::start().await);
    let service = service(issuer.auth());
    assert_eq!(fresh_token(&service, &issuer, 1).await, 200);
    issuer.answer("/keys", Answer::Json(next.jwks()));
    pass(Duration::from_secs(601)).await;
    // The first one after that starts the fetch, and may still be accepted.
    fresh_token(&service, &issuer, 2).await;
    asked(&issuer, 2).await;
    let refused = async {
        while fresh_token(&service, &issuer, 3).await != 401 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), refused).await.expect("the old key is gone");
}

fn file(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/server/auth/tls").join(name).to_str().unwrap().to_owned()
}

/// Connections with TLS, by a certificate for `localhost`.
struct TlsListener(TcpListener, TlsAcceptor);

impl TlsListener {
    async fn bind() -> Self {
        let chain = CertificateDer::pem_file_iter(file("localhost.pem")).unwrap().collect::<Result<_, _>>().unwrap();
        let key = PrivateKeyDer::from_pem_file(file("localhost.key.pem")).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        let config = config.with_single_cert(chain, key).unwrap();
        Self(TcpListener::bind("127.0.0.1:0").await.unwrap(), TlsAcceptor::from(Arc::new(config)))
    }
}

impl axum::serve::Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, SocketAddr) {
        loop {
            let (stream, peer) = self.0.accept().await.unwrap();
            // A client that does not trust the certificate leaves here.
            if let Ok(stream) = self.1.accept(stream).await {
                return (stream, peer);
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

/// The host in the issuer's address, and what a good token of it gets.
const CASE: &str = "REJOINDER_TLS_CASE";

/// A process reads the certificates that it trusts once, so the test runs itself again with others.
#[tokio::test]
async fn an_https_issuer_must_have_a_certificate_for_its_name_that_the_system_trusts() {
    let Ok(case) = env::var(CASE) else {
        for (roots, case) in
            [("ca.pem", "localhost 200"), ("ca.pem", "127.0.0.1 503"), ("other-ca.pem", "localhost 503")]
        {
            let mut again = Command::new(env::current_exe().unwrap());
            let name = "auth::keys::an_https_issuer_must_have_a_certificate_for_its_name_that_the_system_trusts";
            again.args(["--exact", name]).env(CASE, case).env("SSL_CERT_FILE", file(roots)).env_remove("SSL_CERT_DIR");
            let output = again.output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(output.status.success() && said.contains("1 passed"), "{roots}, {case}: {said}");
        }
        return;
    };
    let (host, status) = case.split_once(' ').unwrap();
    let listener = TlsListener::bind().await;
    let issuer = Issuer::at(format!("https://{host}:{}", listener.0.local_addr().unwrap().port()));
    let app = issuer.app();
    tokio::spawn(async move { axum::serve(listener, app).await });
    let (logged, _guard) = Logged::here();
    assert_eq!(fresh_token(&service(issuer.auth()), &issuer, 1).await.to_string(), status, "{}", logged.text());
    assert_eq!(issuer.fetches() == 1, status == "200");
}
