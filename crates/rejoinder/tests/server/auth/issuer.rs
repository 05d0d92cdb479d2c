//! An issuer of tokens on this machine.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, SystemTime},
};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    response::Response,
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use bytes::Bytes;
use futures_util::stream;
use http_body_util::BodyExt;
use rejoinder::auth::Auth;
use ring::{
    rand::SystemRandom,
    rsa::PublicKeyComponents,
    signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256, RSA_PSS_SHA256,
        RsaKeyPair,
    },
};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::auth::AUDIENCE;

/// How the issuer answers at a path.
#[derive(Clone)]
pub(crate) enum Answer {
    /// It may be kept for ten minutes.
    Json(Value),
    /// With this `Cache-Control`.
    Kept(Value, &'static str),
    Status(u16),
    /// It never answers.
    Hang,
    /// It sends that many mebibytes.
    Flood(usize),
    Redirect(String),
}

#[derive(Clone)]
pub(crate) struct Issuer {
    pub(crate) url: String,
    pub(crate) rsa: Arc<RsaKeyPair>,
    pub(crate) p256: Arc<EcdsaKeyPair>,
    pub(crate) ed25519: Arc<Ed25519KeyPair>,
    answers: Arc<Mutex<HashMap<String, Answer>>>,
    requests: Arc<Mutex<Vec<(String, String)>>>,
    fetches: Arc<AtomicUsize>,
}

fn b64(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs()
}

impl Issuer {
    /// Keys, and a server that publishes them.
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let issuer = Self::at(format!("http://{}", listener.local_addr().unwrap()));
        let app = issuer.app();
        tokio::spawn(async move { axum::serve(listener, app).await });
        issuer
    }

    /// Keys for an issuer with this address.
    pub(crate) fn at(url: String) -> Self {
        let random = SystemRandom::new();
        let p256 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let p256 = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, p256.as_ref(), &random).unwrap();
        let ed25519 = Ed25519KeyPair::generate_pkcs8(&random).unwrap();
        let issuer = Self {
            rsa: Arc::new(RsaKeyPair::from_pkcs8(include_bytes!("rsa.pk8")).unwrap()),
            p256: Arc::new(p256),
            ed25519: Arc::new(Ed25519KeyPair::from_pkcs8(ed25519.as_ref()).unwrap()),
            answers: Arc::default(),
            requests: Arc::default(),
            fetches: Arc::default(),
            url,
        };
        issuer.answer(
            "/.well-known/openid-configuration",
            Answer::Json(json!({ "issuer": issuer.url, "jwks_uri": format!("{}/keys", issuer.url) })),
        );
        issuer.answer("/keys", Answer::Json(issuer.jwks()));
        issuer
    }

    /// What answers its requests.
    pub(crate) fn app(&self) -> Router {
        Router::new().fallback(serve).with_state(self.clone())
    }

    pub(crate) fn answer(&self, path: &str, answer: Answer) {
        self.answers.lock().unwrap().insert(path.to_owned(), answer);
    }

    /// How often the keys were fetched.
    pub(crate) fn fetches(&self) -> usize {
        self.fetches.load(Ordering::Relaxed)
    }

    /// The `Authorization` and the body of each POST.
    pub(crate) fn requests(&self) -> Vec<(String, String)> {
        self.requests.lock().unwrap().clone()
    }

    pub(crate) fn jwks(&self) -> Value {
        let rsa: PublicKeyComponents<Vec<u8>> = self.rsa.public().into();
        let point = self.p256.public_key().as_ref();
        json!({ "keys": [
            { "kty": "RSA", "kid": "rsa", "use": "sig", "n": b64(rsa.n), "e": b64(rsa.e) },
            { "kty": "EC", "crv": "P-256", "kid": "p256", "alg": "ES256", "x": b64(&point[1..33]), "y": b64(&point[33..]) },
            { "kty": "OKP", "crv": "Ed25519", "kid": "ed", "x": b64(self.ed25519.public_key()) },
            { "kty": "oct", "kid": "shared", "k": b64("a shared secret, which is not for signatures here") },
        ] })
    }

    pub(crate) fn auth(&self) -> Auth {
        Auth::jwt(&self.url, AUDIENCE)
    }

    /// The claims of a good token.
    pub(crate) fn claims(&self) -> Value {
        json!({ "iss": self.url, "aud": AUDIENCE, "sub": "ada", "exp": now() + 600, "nbf": now() - 1, "scope": "a b" })
    }

    /// A good token.
    pub(crate) fn token(&self) -> String {
        self.sign(json!({ "alg": "ES256", "kid": "p256", "typ": "at+jwt" }), &self.claims())
    }

    pub(crate) fn token_with(&self, change: Value) -> String {
        let mut claims = self.claims();
        for (name, value) in change.as_object().unwrap() {
            claims[name] = value.clone();
        }
        self.sign(json!({ "alg": "ES256", "kid": "p256" }), &claims)
    }

    /// A token with this header, signed with the key that fits its `alg`.
    pub(crate) fn sign(&self, header: Value, claims: &Value) -> String {
        let signed = format!("{}.{}", b64(header.to_string()), b64(claims.to_string()));
        let random = SystemRandom::new();
        let rsa = |padding| {
            let mut signature = vec![0; self.rsa.public().modulus_len()];
            self.rsa.sign(padding, &random, signed.as_bytes(), &mut signature).unwrap();
            signature
        };
        let signature = match header["alg"].as_str() {
            Some("RS256") => rsa(&RSA_PKCS1_SHA256),
            Some("PS256") => rsa(&RSA_PSS_SHA256),
            Some("EdDSA") => self.ed25519.sign(signed.as_bytes()).as_ref().to_vec(),
            _ => self.p256.sign(&random, signed.as_bytes()).unwrap().as_ref().to_vec(),
        };
        format!("{signed}.{}", b64(signature))
    }
}

async fn serve(State(issuer): State<Issuer>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    if path == "/keys" {
        issuer.fetches.fetch_add(1, Ordering::Relaxed);
    }
    let authorization = request.headers().get("authorization").map_or("", |value| value.to_str().unwrap()).to_owned();
    let is_post = request.method() == "POST";
    let body = request.into_body().collect().await.unwrap().to_bytes();
    if is_post {
        issuer.requests.lock().unwrap().push((authorization, String::from_utf8(body.to_vec()).unwrap()));
    }
    let answer = issuer.answers.lock().unwrap().get(&path).cloned();
    let response = Response::builder();
    let kept =
        |json: Value, control| Response::builder().header("cache-control", control).body(Body::from(json.to_string()));
    match answer.unwrap_or(Answer::Status(404)) {
        Answer::Json(json) => kept(json, "max-age=600"),
        Answer::Kept(json, control) => kept(json, control),
        Answer::Status(status) => response.status(status).body(Body::empty()),
        Answer::Redirect(to) => response.status(302).header("location", to).body(Body::empty()),
        Answer::Hang => {
            tokio::time::sleep(Duration::from_secs(3600)).await;
            response.body(Body::empty())
        }
        Answer::Flood(mebibytes) => {
            let piece = Bytes::from(vec![b' '; 1024 * 1024]);
            response
                .body(Body::from_stream(stream::iter(vec![piece; mebibytes].into_iter().map(Ok::<_, std::io::Error>))))
        }
    }
    .unwrap()
}
