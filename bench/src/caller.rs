//! A caller with a token: the issuer's key pair, and what it signs.
//!
//! The key comes from a fixed seed, so that server and loader have the same one without a file between them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};

/// Who signs the tokens.
pub const ISSUER: &str = "https://id.example.com";

/// The server that the tokens are for.
pub const AUDIENCE: &str = "https://mcp.example.com/mcp";

/// What the caller may do.
pub const SCOPE: &str = "sums:read";

fn key_pair() -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(&[7; 32]).expect("a seed of 32 bytes")
}

/// The public keys of the issuer, as a JWK set.
pub fn jwks() -> String {
    let x = URL_SAFE_NO_PAD.encode(key_pair().public_key());
    json!({ "keys": [{ "kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "kid": "bench", "x": x }] }).to_string()
}

/// A token that is valid for an hour.
pub fn token() -> String {
    let expires = SystemTime::now() + Duration::from_hours(1);
    let expires = expires.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let part = |part: Value| URL_SAFE_NO_PAD.encode(part.to_string());
    let header = part(json!({ "alg": "EdDSA", "kid": "bench", "typ": "at+jwt" }));
    let claims = json!({
        "iss": ISSUER, "aud": AUDIENCE, "sub": "ada", "exp": expires, "scope": SCOPE, "client_id": "bench",
        "email": "ada@example.com", "plan": "pro",
    });
    let signed = format!("{header}.{}", part(claims));
    let signature = URL_SAFE_NO_PAD.encode(key_pair().sign(signed.as_bytes()));
    format!("{signed}.{signature}")
}
