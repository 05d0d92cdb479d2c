//! Signed tokens (RFC 7519) and the keys that verify them (RFC 7517), with ring.

use std::{
    fmt,
    time::{Duration, SystemTime},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::signature::{self, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm};
use serde::{
    Deserialize, Deserializer,
    de::{Error, IgnoredAny, MapAccess, Visitor},
};
use serde_json::Value;

use super::{AuthRefusal, Principal};
use crate::model::JsonObject;

/// How far the clocks of issuer and server may differ.
const LEEWAY: Duration = Duration::from_secs(30);

/// A longer token is refused before it is read.
const LONGEST: usize = 16 * 1024;

/// How a token is signed, by the kind of its key. Only with a private key: `none` and shared secrets are not here, so they
/// cannot be accepted.
#[derive(Clone, Copy)]
enum Algorithm {
    Rsa(&'static RsaParameters),
    Curve(&'static str, &'static dyn VerificationAlgorithm),
}

impl Algorithm {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "RS256" => Self::Rsa(&signature::RSA_PKCS1_2048_8192_SHA256),
            "RS384" => Self::Rsa(&signature::RSA_PKCS1_2048_8192_SHA384),
            "RS512" => Self::Rsa(&signature::RSA_PKCS1_2048_8192_SHA512),
            "PS256" => Self::Rsa(&signature::RSA_PSS_2048_8192_SHA256),
            "PS384" => Self::Rsa(&signature::RSA_PSS_2048_8192_SHA384),
            "PS512" => Self::Rsa(&signature::RSA_PSS_2048_8192_SHA512),
            "ES256" => Self::Curve("P-256", &signature::ECDSA_P256_SHA256_FIXED),
            "ES384" => Self::Curve("P-384", &signature::ECDSA_P384_SHA384_FIXED),
            "EdDSA" => Self::Curve("Ed25519", &signature::ED25519),
            _ => return None,
        })
    }
}

/// A public key of the issuer.
#[derive(Debug, Clone)]
pub(super) struct VerifyingKey {
    id: Option<String>,
    /// The only algorithm that it is for, if it names one.
    algorithm: Option<String>,
    material: KeyMaterial,
}

#[derive(Debug, Clone)]
enum KeyMaterial {
    Rsa { n: Vec<u8>, e: Vec<u8> },
    Curve { name: String, point: Vec<u8> },
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
            alg: Option<String>,
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
            && jwk.key_ops.is_none_or(|operations| operations.iter().any(|operation| operation == "verify"))
            // Such as encryption.
            && jwk.alg.as_deref().is_none_or(|name| Algorithm::named(name).is_some());
        let bytes = |field: Option<String>| URL_SAFE_NO_PAD.decode(field?).ok();
        let coordinate = |field, size| bytes(field).filter(|bytes| bytes.len() == size);
        let material = match (&*jwk.kty, jwk.crv) {
            ("RSA", _) => KeyMaterial::Rsa { n: bytes(jwk.n)?, e: bytes(jwk.e)? },
            ("EC", Some(name)) => {
                let size = match &*name {
                    "P-256" => 32,
                    "P-384" => 48,
                    _ => return None,
                };
                KeyMaterial::Curve {
                    name,
                    point: [vec![4], coordinate(jwk.x, size)?, coordinate(jwk.y, size)?].concat(),
                }
            }
            ("OKP", Some(name)) if name == "Ed25519" => {
                let point = coordinate(jwk.x, 32).filter(|point| !has_small_order(point))?;
                KeyMaterial::Curve { name, point }
            }
            _ => return None,
        };
        is_for_signatures.then_some(Self { id: jwk.kid, algorithm: jwk.alg, material })
    }

    /// Whether it is the key for such a token. A token without an id of a key is for any key that fits.
    pub(super) fn is_for(&self, token: &SignedToken<'_>) -> bool {
        let fits = match (&self.material, token.algorithm) {
            (KeyMaterial::Rsa { .. }, Algorithm::Rsa(_)) => true,
            (KeyMaterial::Curve { name, .. }, Algorithm::Curve(curve, _)) => name == curve,
            _ => false,
        };
        let is_named = token.header.kid.is_none() || token.header.kid == self.id;
        fits && is_named && self.algorithm.as_ref().is_none_or(|only| *only == token.header.alg)
    }

    fn verifies(&self, token: &SignedToken<'_>) -> bool {
        let (message, signature) = (token.signed.as_bytes(), &*token.signature);
        let verified = match (&self.material, token.algorithm) {
            (KeyMaterial::Rsa { n, e }, Algorithm::Rsa(parameters)) => {
                RsaPublicKeyComponents { n, e }.verify(parameters, message, signature)
            }
            (KeyMaterial::Curve { point, .. }, Algorithm::Curve(_, algorithm)) => {
                UnparsedPublicKey::new(algorithm, point).verify(message, signature)
            }
            _ => return false,
        };
        verified.is_ok()
    }
}

/// Whether an Ed25519 key is one of the few for which anybody can make signatures: points of order 1, 2, 4 and 8, also in encodings
/// that are not canonical.
fn has_small_order(point: &[u8]) -> bool {
    const ORDER_8: [[u8; 32]; 2] = [
        *b"\x26\xe8\x95\x8f\xc2\xb2\x27\xb0\x45\xc3\xf4\x89\xf2\xef\x98\xf0\xd5\xdf\xac\x05\xd3\xc6\x33\x39\xb1\x38\x02\x88\x6d\x53\xfc\x05",
        *b"\xc7\x17\x6a\x70\x3d\x4d\xd8\x4f\xba\x3c\x0b\x76\x0d\x10\x67\x0f\x2a\x20\x53\xfa\x2c\x39\xcc\xc6\x4e\xc7\xfd\x77\x92\xac\x03\x7a",
    ];
    let Some((first, [middle @ .., last])) = point.split_first() else { return false };
    // The highest bit is the sign of the other coordinate.
    let last = last & 0x7f;
    let is_all = |byte: u8, end: u8| middle.iter().all(|other| *other == byte) && last == end;
    // 0 and 1; -1, 0 and 1 of the field, whose order is 2^255 - 19.
    (*first <= 1 && is_all(0, 0))
        || ((0xec..=0xee).contains(first) && is_all(0xff, 0x7f))
        || ORDER_8.iter().any(|weak| point[..31] == weak[..31] && last == weak[31])
}

/// The claims of a token, each of them once: of two, another reader may take the other.
pub(super) struct Claims(pub(super) JsonObject);

impl<'de> Deserialize<'de> for Claims {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ClaimsVisitor;

        impl<'de> Visitor<'de> for ClaimsVisitor {
            type Value = Claims;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of claims")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Claims, A::Error> {
                let mut claims = JsonObject::new();
                while let Some((name, value)) = map.next_entry()? {
                    if claims.insert(name, value).is_some() {
                        return Err(A::Error::custom("a claim occurs twice"));
                    }
                }
                Ok(Claims(claims))
            }
        }

        deserializer.deserialize_map(ClaimsVisitor)
    }
}

/// A token whose signature has not been checked.
pub(super) struct SignedToken<'a> {
    header: TokenHeader,
    algorithm: Algorithm,
    /// What is signed: header and claims, as they were sent.
    signed: &'a str,
    claims: &'a str,
    signature: Vec<u8>,
}

#[derive(Deserialize)]
struct TokenHeader {
    alg: String,
    kid: Option<String>,
    typ: Option<String>,
    crit: Option<IgnoredAny>,
}

/// A part of a token.
fn decoded(part: &str) -> Result<Vec<u8>, AuthRefusal> {
    URL_SAFE_NO_PAD.decode(part).map_err(|_| NOT_SIGNED)
}

const NOT_SIGNED: AuthRefusal = AuthRefusal::Invalid("the token is not a signed token");
const EXPIRED: AuthRefusal = AuthRefusal::Invalid("the token has expired, or does not say when it expires");

impl<'a> SignedToken<'a> {
    /// Reads the header of a token, and checks what can be checked without a key.
    pub(super) fn read(token: &'a str) -> Result<Self, AuthRefusal> {
        if token.len() > LONGEST {
            return Err(NOT_SIGNED);
        }
        let (signed, signature) = token.rsplit_once('.').ok_or(NOT_SIGNED)?;
        let (header, claims) = signed.split_once('.').ok_or(NOT_SIGNED)?;
        let header: TokenHeader = serde_json::from_slice(&decoded(header)?).map_err(|_| NOT_SIGNED)?;
        let algorithm = Algorithm::named(&header.alg);
        let algorithm =
            algorithm.ok_or(AuthRefusal::Invalid("the token is not signed with an algorithm of a private key"))?;
        if header.crit.is_some() {
            return Err(AuthRefusal::Invalid("the token has critical fields that are not known here"));
        }
        let kind = header.typ.as_deref().map(str::to_ascii_lowercase);
        if !matches!(kind.as_deref(), None | Some("jwt" | "at+jwt" | "application/at+jwt")) {
            return Err(AuthRefusal::Invalid("the token is of another type than an access token"));
        }
        Ok(Self { header, algorithm, signed, claims, signature: decoded(signature)? })
    }

    /// Checks the signature with the key of the issuer, and then what the token says.
    pub(super) fn verify(
        &self,
        keys: &[VerifyingKey],
        expected: &Expected,
        others: &[String],
    ) -> Result<Principal, AuthRefusal> {
        let mut fitting = keys.iter().filter(|key| key.is_for(self));
        let key = match (fitting.next(), fitting.next()) {
            (None, _) => return Err(AuthRefusal::Invalid("the token's key is not one of its issuer")),
            (Some(_), Some(_)) if self.header.kid.is_none() => {
                return Err(AuthRefusal::Invalid("the token does not say which of several keys has signed it"));
            }
            (Some(key), _) => key,
        };
        if !key.verifies(self) {
            return Err(AuthRefusal::Invalid("the token's signature is wrong"));
        }
        let Claims(claims) = serde_json::from_slice(&decoded(self.claims)?).map_err(|_| NOT_SIGNED)?;
        if claims.get("iss").and_then(Value::as_str) != Some(&expected.issuer) {
            return Err(AuthRefusal::Invalid("the token is of another issuer"));
        }
        if !claims.contains_key("exp") {
            return Err(EXPIRED);
        }
        principal(claims, &expected.audience, others)
    }
}

/// What a token must say.
#[derive(Debug, Clone)]
pub(super) struct Expected {
    pub(super) issuer: String,
    pub(super) audience: String,
}

/// The caller that these claims are about, if they hold now and here: for this audience, or one of the others.
pub(super) fn principal(claims: JsonObject, audience: &str, others: &[String]) -> Result<Principal, AuthRefusal> {
    let now = SystemTime::now();
    let text = |name: &str| claims.get(name).and_then(Value::as_str).map(str::to_owned);
    let is_ours = |one: &Value| one == audience || others.iter().any(|other| one == other);
    let is_here = match claims.get("aud") {
        Some(Value::Array(several)) => several.iter().any(is_ours),
        one => one.is_some_and(is_ours),
    };
    if !is_here {
        return Err(AuthRefusal::Invalid("the token is for another audience"));
    }
    let expires = claims.get("exp").map(|time| time_of(time).ok_or(EXPIRED)).transpose()?;
    if expires.is_some_and(|expires| expires + LEEWAY <= now) {
        return Err(EXPIRED);
    }
    if claims.get("nbf").is_some_and(|begins| time_of(begins).is_none_or(|begins| begins > now + LEEWAY)) {
        return Err(AuthRefusal::Invalid("the token is not valid yet"));
    }
    let subject = text("sub").filter(|subject| !subject.is_empty());
    let subject = subject.ok_or(AuthRefusal::Invalid("the token has no subject"))?;
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
    match claim {
        Value::String(text) => text.split_ascii_whitespace().map(str::to_owned).collect(),
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a3_l6_a_key_for_which_anybody_can_sign_is_not_read() {
        let read = |point: &[u8]| {
            let jwk = json!({ "kty": "OKP", "crv": "Ed25519", "x": URL_SAFE_NO_PAD.encode(point) });
            VerifyingKey::read_set(json!({ "keys": [jwk] }).to_string().as_bytes()).is_ok()
        };
        let of = |first: u8, rest: u8, last: u8| {
            let mut point = [rest; 32];
            (point[0], point[31]) = (first, last);
            point
        };
        for sign in [0, 0x80] {
            for weak in [of(0, 0, 0), of(1, 0, 0), of(0xec, 0xff, 0x7f), of(0xed, 0xff, 0x7f), of(0xee, 0xff, 0x7f)] {
                let mut weak = weak;
                weak[31] |= sign;
                assert!(!read(&weak), "{weak:?}");
            }
            let mut weak = *b"\x26\xe8\x95\x8f\xc2\xb2\x27\xb0\x45\xc3\xf4\x89\xf2\xef\x98\xf0\xd5\xdf\xac\x05\xd3\xc6\x33\x39\xb1\x38\x02\x88\x6d\x53\xfc\x05";
            weak[31] |= sign;
            assert!(!read(&weak));
        }
        assert!(read(&of(2, 0, 0)) && read(&of(0xeb, 0xff, 0x7f)) && read(&[7; 32]));
        assert!(!read(&[7; 31]) && !read(&[7; 33]));
    }

    #[test]
    fn a3_l7_a_claim_that_occurs_twice_is_refused() {
        assert!(serde_json::from_str::<Claims>(r#"{"sub":"ada","active":true,"nested":{"a":1}}"#).is_ok());
        for twice in [r#"{"sub":"ada","sub":"bob"}"#, r#"{"active":false,"active":true}"#, r#"{"aud":1,"\u0061ud":2}"#]
        {
            assert!(serde_json::from_str::<Claims>(twice).is_err(), "{twice}");
        }
    }
}
