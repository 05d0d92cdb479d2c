//! Signed tokens (RFC 7519) and the keys that verify them (RFC 7517), with ring.

use std::time::{Duration, SystemTime};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::signature::{self, RsaPublicKeyComponents, UnparsedPublicKey};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::Value;

use super::Principal;
use crate::model::JsonObject;

/// How far the clocks of issuer and server may differ.
const LEEWAY: Duration = Duration::from_secs(30);

/// A longer token is refused before it is read.
const LONGEST: usize = 16 * 1024;

/// How a token is signed. Only with a private key: `none` and shared secrets are not here, so they cannot be accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) enum Algorithm {
    RS256,
    RS384,
    RS512,
    PS256,
    PS384,
    PS512,
    ES256,
    ES384,
    EdDSA,
}

/// A public key of the issuer.
#[derive(Debug, Clone)]
pub(super) struct VerifyingKey {
    id: Option<String>,
    /// The only algorithm that it is for, if it names one.
    algorithm: Option<Algorithm>,
    material: KeyMaterial,
}

#[derive(Debug, Clone)]
enum KeyMaterial {
    Rsa { n: Vec<u8>, e: Vec<u8> },
    P256(Vec<u8>),
    P384(Vec<u8>),
    Ed25519(Vec<u8>),
}

impl VerifyingKey {
    /// The keys of a JWK set that verify signatures. Others are passed over: a set may have keys for other purposes.
    pub(super) fn read_set(json: &[u8]) -> Result<Vec<Self>, &'static str> {
        #[derive(Deserialize)]
        struct JwkSet {
            keys: Vec<Value>,
        }
        let set: JwkSet = serde_json::from_slice(json).map_err(|_| "it is not a JWK set")?;
        let keys: Vec<_> = set.keys.into_iter().filter_map(Self::read).collect();
        if keys.is_empty() { Err("it has no key that can verify a signature") } else { Ok(keys) }
    }

    fn read(jwk: Value) -> Option<Self> {
        #[derive(Deserialize)]
        struct Jwk {
            kty: String,
            kid: Option<String>,
            alg: Option<Value>,
            r#use: Option<String>,
            key_ops: Option<Vec<String>>,
            crv: Option<String>,
            n: Option<String>,
            e: Option<String>,
            x: Option<String>,
            y: Option<String>,
        }
        let jwk: Jwk = serde_json::from_value(jwk).ok()?;
        let is_for_signatures = jwk.r#use.is_none_or(|usage| usage == "sig")
            && jwk.key_ops.is_none_or(|operations| operations.iter().any(|operation| operation == "verify"));
        let bytes = |field: Option<String>| URL_SAFE_NO_PAD.decode(field?).ok();
        let point = |size: usize, x: Option<String>, y: Option<String>| {
            let (x, y) = (bytes(x)?, bytes(y)?);
            (x.len() == size && y.len() == size).then(|| [&[4], &*x, &*y].concat())
        };
        let material = match (&*jwk.kty, jwk.crv.as_deref()) {
            ("RSA", _) => KeyMaterial::Rsa { n: bytes(jwk.n)?, e: bytes(jwk.e)? },
            ("EC", Some("P-256")) => KeyMaterial::P256(point(32, jwk.x, jwk.y)?),
            ("EC", Some("P-384")) => KeyMaterial::P384(point(48, jwk.x, jwk.y)?),
            ("OKP", Some("Ed25519")) => KeyMaterial::Ed25519(bytes(jwk.x)?),
            _ => return None,
        };
        // A key for an algorithm that is not accepted, such as encryption, cannot be used.
        let algorithm = jwk.alg.map(Algorithm::deserialize).transpose().ok()?;
        is_for_signatures.then_some(Self { id: jwk.kid, algorithm, material })
    }

    /// Whether it is the key for such a token. A token without an id of a key is for any key that fits.
    pub(super) fn is_for(&self, token: &SignedToken<'_>) -> bool {
        let is_named = token.header.kid.is_none() || token.header.kid == self.id;
        is_named && self.algorithm.is_none_or(|only| only == token.header.alg) && self.fits(token.header.alg)
    }

    fn fits(&self, algorithm: Algorithm) -> bool {
        use Algorithm::{ES256, ES384, EdDSA, PS256, PS384, PS512, RS256, RS384, RS512};
        match self.material {
            KeyMaterial::Rsa { .. } => matches!(algorithm, RS256 | RS384 | RS512 | PS256 | PS384 | PS512),
            KeyMaterial::P256(_) => algorithm == ES256,
            KeyMaterial::P384(_) => algorithm == ES384,
            KeyMaterial::Ed25519(_) => algorithm == EdDSA,
        }
    }

    fn verifies(&self, token: &SignedToken<'_>) -> bool {
        let (message, signature) = (token.signed.as_bytes(), &*token.signature);
        let verified = match (&self.material, token.header.alg) {
            (KeyMaterial::Rsa { n, e }, algorithm) => {
                let parameters = match algorithm {
                    Algorithm::RS256 => &signature::RSA_PKCS1_2048_8192_SHA256,
                    Algorithm::RS384 => &signature::RSA_PKCS1_2048_8192_SHA384,
                    Algorithm::RS512 => &signature::RSA_PKCS1_2048_8192_SHA512,
                    Algorithm::PS256 => &signature::RSA_PSS_2048_8192_SHA256,
                    Algorithm::PS384 => &signature::RSA_PSS_2048_8192_SHA384,
                    Algorithm::PS512 => &signature::RSA_PSS_2048_8192_SHA512,
                    _ => return false,
                };
                RsaPublicKeyComponents { n, e }.verify(parameters, message, signature)
            }
            (KeyMaterial::P256(point), Algorithm::ES256) => {
                UnparsedPublicKey::new(&signature::ECDSA_P256_SHA256_FIXED, point).verify(message, signature)
            }
            (KeyMaterial::P384(point), Algorithm::ES384) => {
                UnparsedPublicKey::new(&signature::ECDSA_P384_SHA384_FIXED, point).verify(message, signature)
            }
            (KeyMaterial::Ed25519(key), Algorithm::EdDSA) => {
                UnparsedPublicKey::new(&signature::ED25519, key).verify(message, signature)
            }
            _ => return false,
        };
        verified.is_ok()
    }
}

/// Why a token is refused, for the log. It contains nothing of the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum TokenError {
    #[error("the token is not a signed token")]
    Malformed,
    #[error("the token is not signed with an algorithm of a private key")]
    Algorithm,
    #[error("the token is of another type than an access token")]
    Type,
    #[error("the token has critical fields that are not known here")]
    Critical,
    #[error("the token's key is not one of its issuer")]
    UnknownKey,
    #[error("the token does not say which of several keys has signed it")]
    NoKeyId,
    #[error("the token's signature is wrong")]
    Signature,
    #[error("the token has expired, or does not say when it expires")]
    Expired,
    #[error("the token is not valid yet")]
    NotYet,
    #[error("the token is of another issuer")]
    Issuer,
    #[error("the token is for another audience")]
    Audience,
    #[error("the token has no subject")]
    Subject,
    #[error("the token is not active")]
    Inactive,
    #[error("the issuer does not say whether the token is valid; the log has the reason")]
    NoAnswer,
}

/// A token whose signature has not been checked.
pub(super) struct SignedToken<'a> {
    header: TokenHeader,
    /// What is signed: header and claims, as they were sent.
    signed: &'a str,
    claims: &'a str,
    signature: Vec<u8>,
}

#[derive(Deserialize)]
struct TokenHeader {
    alg: Algorithm,
    kid: Option<String>,
    typ: Option<String>,
    crit: Option<IgnoredAny>,
}

impl<'a> SignedToken<'a> {
    /// Reads the header of a token, and checks what can be checked without a key.
    pub(super) fn read(token: &'a str) -> Result<Self, TokenError> {
        let malformed = TokenError::Malformed;
        if token.len() > LONGEST {
            return Err(malformed);
        }
        let (signed, signature) = token.rsplit_once('.').ok_or(malformed)?;
        let (header, claims) = signed.split_once('.').ok_or(malformed)?;
        let header = URL_SAFE_NO_PAD.decode(header).map_err(|_| malformed)?;
        let header: Value = serde_json::from_slice(&header).map_err(|_| malformed)?;
        if header.get("alg").is_none_or(|algorithm| Algorithm::deserialize(algorithm).is_err()) {
            return Err(TokenError::Algorithm);
        }
        let header: TokenHeader = serde_json::from_value(header).map_err(|_| malformed)?;
        if header.crit.is_some() {
            return Err(TokenError::Critical);
        }
        let kind = header.typ.as_deref().map(str::to_ascii_lowercase);
        if !matches!(kind.as_deref(), None | Some("jwt" | "at+jwt" | "application/at+jwt")) {
            return Err(TokenError::Type);
        }
        let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| malformed)?;
        Ok(Self { header, signed, claims, signature })
    }

    /// Checks the signature with the key of the issuer, and then what the token says.
    pub(super) fn verify(&self, keys: &[VerifyingKey], expected: &Expected) -> Result<Principal, TokenError> {
        let mut fitting = keys.iter().filter(|key| key.is_for(self));
        let key = match (fitting.next(), fitting.next()) {
            (None, _) => return Err(TokenError::UnknownKey),
            (Some(_), Some(_)) if self.header.kid.is_none() => return Err(TokenError::NoKeyId),
            (Some(key), _) => key,
        };
        if !key.verifies(self) {
            return Err(TokenError::Signature);
        }
        let claims = URL_SAFE_NO_PAD.decode(self.claims).map_err(|_| TokenError::Malformed)?;
        let claims: JsonObject = serde_json::from_slice(&claims).map_err(|_| TokenError::Malformed)?;
        if claims.get("iss").and_then(Value::as_str) != Some(&expected.issuer) {
            return Err(TokenError::Issuer);
        }
        if !claims.contains_key("exp") {
            return Err(TokenError::Expired);
        }
        principal(claims, &expected.audience, SystemTime::now())
    }
}

/// What a token must say.
#[derive(Debug, Clone)]
pub(super) struct Expected {
    pub(super) issuer: String,
    pub(super) audience: String,
}

/// The caller that these claims are about, if they hold now and here.
pub(super) fn principal(claims: JsonObject, audience: &str, now: SystemTime) -> Result<Principal, TokenError> {
    let text = |name: &str| claims.get(name).and_then(Value::as_str).map(str::to_owned);
    let is_here = match claims.get("aud") {
        Some(Value::String(one)) => one == audience,
        Some(Value::Array(several)) => several.iter().any(|one| one == audience),
        _ => false,
    };
    if !is_here {
        return Err(TokenError::Audience);
    }
    let expires = claims.get("exp").map(|time| time_of(time).ok_or(TokenError::Expired)).transpose()?;
    if expires.is_some_and(|expires| expires + LEEWAY <= now) {
        return Err(TokenError::Expired);
    }
    if let Some(begins) = claims.get("nbf") {
        let begins = time_of(begins).ok_or(TokenError::NotYet)?;
        if begins > now + LEEWAY {
            return Err(TokenError::NotYet);
        }
    }
    let subject = text("sub").filter(|subject| !subject.is_empty()).ok_or(TokenError::Subject)?;
    let mut caller = Principal::new(subject);
    if let Some(issuer) = text("iss") {
        caller = caller.with_issuer(issuer);
    }
    if let Some(client) = text("client_id").or_else(|| text("azp")) {
        caller = caller.with_client_id(client);
    }
    if let Some(expires) = expires {
        // Valid for as long as the token is accepted.
        caller = caller.with_expiry(expires + LEEWAY);
    }
    let scopes = claims.get("scope").or_else(|| claims.get("scp")).map(scopes).unwrap_or_default();
    Ok(caller.with_scopes(scopes).with_claims(claims))
}

/// A list, or words in one string.
fn scopes(claim: &Value) -> Vec<String> {
    let words = |text: &str| text.split_ascii_whitespace().map(str::to_owned).collect();
    match claim {
        Value::String(text) => words(text),
        Value::Array(list) => list.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// Seconds since 1970, perhaps with a fraction; `None` if a clock cannot show it.
fn time_of(seconds: &Value) -> Option<SystemTime> {
    const LAST: f64 = 253_402_300_800.0; // the year 10000
    let seconds = seconds.as_f64().filter(|seconds| (0.0..LAST).contains(seconds))?;
    Some(SystemTime::UNIX_EPOCH + Duration::from_secs_f64(seconds))
}
