//! How a server finds out over HTTP who calls.

use std::{
    collections::HashMap,
    fmt,
    path::PathBuf,
    sync::{Arc, Mutex, OnceLock},
    time::SystemTime,
};

use ::http::{HeaderMap, HeaderName, header::AUTHORIZATION};
use ring::digest::{SHA256, digest};

use super::{
    Principal,
    fetch::trusted_url,
    introspection::{Introspection, REFUSED_FOR, VALID_FOR},
    jwks::{IssuerKeys, KeySource},
    jwt::{Expected, SignedToken},
    principal::is_scope,
};
use crate::error::{RefusalLog, lock};

/// How a server finds out over HTTP who calls; see [`http::Config::auth`](crate::http::Config::auth).
///
/// Every request is checked, on every path of the server: Streamable HTTP, WebSocket and HTTP+SSE. One without valid
/// credentials gets 401, with the `WWW-Authenticate` that tells an MCP client where to log in, and functions do not run. The
/// document about it (RFC 9728) is at `/.well-known/oauth-protected-resource`, also with the path of the endpoint after it; a
/// mounted service has it as [`McpService::resource_metadata`](crate::http::McpService::resource_metadata).
///
/// ```
/// use rejoinder::{auth::{Auth, Principal}, http, prelude::*};
///
/// #[tool]
/// async fn whoami(caller: Principal) -> String { caller.subject().to_owned() }
///
/// let auth = Auth::jwt("https://id.example.com", "https://mcp.example.com/mcp").required_scopes(["mcp"]);
/// let http = http::Config::new().allow_host("mcp.example.com").auth(auth);
/// let server = Server::new("shop", "1.0.0").tools(tools![whoami]).http(http);
/// assert!(server.check().is_ok());
/// ```
#[must_use = "pass it to `http::Config::auth`"]
#[derive(Debug)]
pub struct Auth {
    method: AuthMethod,
    pub(crate) is_optional: bool,
    pub(crate) required_scopes: Vec<String>,
    /// The address of the endpoint, as far as it is known.
    pub(crate) resource: Option<String>,
    authorization_server: Option<String>,
    /// The addresses of the other paths of the server, if the audience is an address.
    other_audiences: OnceLock<Vec<String>>,
    verified: VerifiedTokens,
    pub(crate) refusals: RefusalLog<AuthRefusal>,
    /// Settings that can never work.
    mistakes: Vec<String>,
}

#[derive(Debug)]
enum AuthMethod {
    Jwt(Expected, Arc<IssuerKeys>),
    Introspection(Introspection),
    ApiKey(HeaderName, ApiKeys),
}

/// The callers with keys, by the digests of these.
#[derive(Default)]
struct ApiKeys(HashMap<[u8; 32], Principal>);

/// Without the digests: a short key can be guessed from one.
impl fmt::Debug for ApiKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} keys", self.0.len())
    }
}

/// Why a request is refused, for the log. It contains nothing of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub(crate) enum AuthRefusal {
    #[error("it has no credentials")]
    Missing,
    #[error("its credentials cannot be read")]
    Malformed,
    #[error("{0}")]
    Invalid(&'static str),
    #[error("its caller lacks a scope")]
    InsufficientScope,
    #[error("its credentials cannot be checked now")]
    Unavailable,
}

impl Auth {
    fn new(method: AuthMethod, resource: Option<String>) -> Self {
        Self {
            method,
            is_optional: false,
            required_scopes: Vec::new(),
            resource,
            authorization_server: None,
            other_audiences: OnceLock::new(),
            verified: VerifiedTokens::default(),
            refusals: RefusalLog::default(),
            mistakes: Vec::new(),
        }
    }

    /// Accepts the access tokens of an OAuth 2.1 issuer: signed tokens (JWT) that it has issued for this audience.
    ///
    /// The audience is the address of your MCP endpoint, which clients name when they ask for a token (RFC 8707). The keys of the
    /// issuer are at the address that its metadata names, or [at another](Self::jwks_url). They are kept for as long as the
    /// issuer says, and fetched again when a token names an unknown key; if the issuer cannot be reached, known keys are used
    /// for another day.
    ///
    /// Checked are the signature (RS, PS, ES or EdDSA), `exp`, `nbf`, `iss`, `aud`, `typ` and `kid`. A verified token is not
    /// verified again until it expires. The scopes are in `scope` or `scp`.
    pub fn jwt(issuer: impl Into<String>, audience: impl Into<String>) -> Self {
        let (issuer, audience) = (issuer.into(), audience.into());
        let resource = trusted_url(&audience).is_ok().then(|| audience.clone());
        let keys = Arc::new(IssuerKeys::new(KeySource::Issuer(issuer.clone())));
        let mistakes = audience.is_empty().then(|| "the audience is empty".to_owned()).into_iter().collect();
        Self { mistakes, ..Self::new(AuthMethod::Jwt(Expected { issuer, audience }, keys), resource) }
    }

    /// Asks the issuer about each token (RFC 7662): for tokens that only the issuer can read. Its answer counts for 30 seconds.
    ///
    /// The answer must name the audience.
    ///
    /// ```
    /// use rejoinder::auth::Auth;
    ///
    /// # fn secret() -> String { String::new() }
    /// let auth = Auth::introspection("https://id.example.com/introspect", "https://mcp.example.com/mcp")
    ///     .authorization_server("https://id.example.com")
    ///     .client_credentials("shop-server", secret());
    /// # let _ = auth;
    /// ```
    pub fn introspection(url: impl Into<String>, audience: impl Into<String>) -> Self {
        let audience = audience.into();
        let resource = trusted_url(&audience).is_ok().then(|| audience.clone());
        Self::new(AuthMethod::Introspection(Introspection::new(url.into(), audience)), resource)
    }

    /// Accepts keys that you hand out yourself, in this header: `x-api-key`, or `authorization` for `Bearer` and a key.
    ///
    /// ```
    /// use rejoinder::auth::{Auth, Principal};
    ///
    /// # fn key_of_ci() -> String { "0123456789abcdef".to_owned() }
    /// let auth = Auth::api_key("x-api-key")
    ///     .key(key_of_ci(), Principal::new("ci").with_scopes(["deploy"]))
    ///     // The SHA-256 of a key, as `printf %s "$KEY" | sha256sum` prints it.
    ///     .hashed_key("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", Principal::new("ada"));
    /// # let _ = auth;
    /// ```
    ///
    /// Only digests are kept, and only digests are compared, so the time of a reply says nothing about a key. Make keys of at
    /// least 16 random characters: a digest of a word is as good as the word.
    pub fn api_key(header: &str) -> Self {
        let name = HeaderName::try_from(header);
        let mistake = name.is_err().then(|| format!("`{header}` is not the name of a header"));
        let method = AuthMethod::ApiKey(name.unwrap_or(AUTHORIZATION), ApiKeys::default());
        Self { mistakes: mistake.into_iter().collect(), ..Self::new(method, None) }
    }

    /// Accepts this key, for this caller.
    pub fn key(self, key: impl AsRef<str>, caller: Principal) -> Self {
        let key = key.as_ref();
        let digest = (key.len() >= 16).then(|| digest_of(key));
        self.add_key(digest.ok_or("has fewer than 16 characters"), caller)
    }

    /// Accepts the key with this SHA-256, in hexadecimal, for this caller.
    pub fn hashed_key(self, sha256: &str, caller: Principal) -> Self {
        self.add_key(digest_from_hex(sha256).ok_or("is not a SHA-256 of 64 hexadecimal digits"), caller)
    }

    fn add_key(mut self, digest: Result<[u8; 32], &str>, caller: Principal) -> Self {
        match (&mut self.method, digest) {
            (AuthMethod::ApiKey(_, keys), Ok(digest)) => drop(keys.0.insert(digest, caller)),
            (AuthMethod::ApiKey(..), Err(mistake)) => {
                self.mistakes.push(format!("the key of `{}` {mistake}", caller.subject()));
            }
            _ => self.mistakes.push("keys are for `Auth::api_key`".to_owned()),
        }
        self
    }

    /// Fetches the keys of the issuer from this address.
    pub fn jwks_url(self, url: impl Into<String>) -> Self {
        self.keys_from(KeySource::Url(url.into()))
    }

    /// Reads the keys of the issuer (a JWK set) from this file, without a network. It is read again when a token names a key
    /// that is not in it.
    pub fn jwks_file(self, path: impl Into<PathBuf>) -> Self {
        self.keys_from(KeySource::File(path.into()))
    }

    /// The keys of the issuer, as a JWK set.
    pub fn jwks(self, json: impl Into<String>) -> Self {
        self.keys_from(KeySource::Json(json.into()))
    }

    fn keys_from(mut self, source: KeySource) -> Self {
        match &mut self.method {
            AuthMethod::Jwt(_, keys) => *keys = Arc::new(IssuerKeys::new(source)),
            _ => self.mistakes.push("only `Auth::jwt` has keys of an issuer".to_owned()),
        }
        self
    }

    /// How this server identifies itself to the introspection endpoint.
    pub fn client_credentials(mut self, id: impl Into<String>, secret: impl Into<String>) -> Self {
        match &mut self.method {
            AuthMethod::Introspection(endpoint) => endpoint.client = Some((id.into(), secret.into())),
            _ => self.mistakes.push("`client_credentials` is for `Auth::introspection`".to_owned()),
        }
        self
    }

    /// The scopes that every request needs. A caller without one of them gets 403, with the scopes to ask for.
    pub fn required_scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.required_scopes = scopes.into_iter().map(Into::into).collect();
        let wrong = self.required_scopes.iter().find(|scope| !is_scope(scope));
        self.mistakes.extend(wrong.map(|scope| format!("`{scope}` is not a scope")));
        self
    }

    /// The address of the MCP endpoint, as clients know it, if the audience is not that address.
    pub fn resource(mut self, url: impl Into<String>) -> Self {
        let url = url.into();
        self.mistakes.extend(trusted_url(&url).err());
        self.resource = Some(url);
        self
    }

    /// Where clients get tokens, if that is not the issuer of [`Auth::jwt`]. [`Auth::introspection`] needs it.
    pub fn authorization_server(mut self, url: impl Into<String>) -> Self {
        let url = url.into();
        self.mistakes.extend(trusted_url(&url).err());
        self.authorization_server = Some(url);
        self
    }

    /// Serves callers without credentials too, as anonymous ones. Credentials that are not valid are still refused.
    pub fn optional(mut self) -> Self {
        self.is_optional = true;
        self
    }

    /// Accepts tokens for the other paths of the server, too: clients ask for a token for the address that they know.
    pub(crate) fn serve_at<'a>(&self, path: &str, others: impl Iterator<Item = &'a String>) {
        let audience = match &self.method {
            AuthMethod::Jwt(expected, _) => &expected.audience,
            AuthMethod::Introspection(endpoint) => &endpoint.audience,
            AuthMethod::ApiKey(..) => return,
        };
        if self.resource.as_ref() == Some(audience) {
            let others = others.filter_map(|other| sibling(audience, path, other));
            self.other_audiences.get_or_init(|| others.collect());
        }
    }

    /// Settings that can never work.
    pub(crate) fn mistakes(&self) -> Vec<String> {
        let mut mistakes = self.mistakes.clone();
        let asked = match &self.method {
            AuthMethod::Jwt(_, keys) => keys.address(),
            AuthMethod::Introspection(endpoint) => Some(&endpoint.url),
            AuthMethod::ApiKey(_, keys) => {
                if keys.0.is_empty() && mistakes.is_empty() {
                    mistakes.push("there is no key: add one with `Auth::key`".to_owned());
                }
                None
            }
        };
        mistakes.extend(asked.and_then(|url| trusted_url(url).err()));
        if self.is_oauth() && self.token_source().is_none() {
            mistakes.push("clients must know where to get tokens: add `Auth::authorization_server`".to_owned());
        }
        mistakes
    }

    /// Where clients get tokens.
    pub(crate) fn token_source(&self) -> Option<&str> {
        match (&self.authorization_server, &self.method) {
            (Some(server), _) => Some(server),
            (None, AuthMethod::Jwt(expected, _)) => Some(&expected.issuer),
            (None, _) => None,
        }
    }

    /// The header that has the key of a caller, without an OAuth issuer.
    pub(crate) fn key_header(&self) -> Option<&HeaderName> {
        match &self.method {
            AuthMethod::ApiKey(name, _) => Some(name),
            _ => None,
        }
    }

    /// Whether clients get what they need from an OAuth issuer.
    pub(crate) fn is_oauth(&self) -> bool {
        self.key_header().is_none()
    }

    /// Who sends a request with these headers; `None` for an anonymous caller who is welcome.
    pub(crate) async fn authenticate(&self, headers: &HeaderMap) -> Result<Option<Principal>, AuthRefusal> {
        let credentials = match self.credentials(headers) {
            Ok(credentials) => credentials,
            Err(AuthRefusal::Missing) if self.is_optional => return Ok(None),
            Err(refusal) => return Err(refusal),
        };
        let id = digest_of(credentials);
        let known = match &self.method {
            AuthMethod::ApiKey(_, keys) => keys.0.get(&id).cloned(),
            _ => self.verified.get(&id).transpose()?,
        };
        let caller = match known {
            Some(caller) => caller,
            None => {
                let others = self.other_audiences.get().map_or(&[][..], Vec::as_slice);
                // In a box: nearly every token has been verified before.
                let verified = Box::pin(self.method.verify(credentials, others)).await;
                let caller = verified.inspect_err(|refusal| self.verified.refuse(id, *refusal, &self.method))?;
                self.verified.insert(id, &caller, &self.method);
                caller
            }
        };
        if self.required_scopes.iter().all(|scope| caller.has_scope(scope)) {
            Ok(Some(caller))
        } else {
            Err(AuthRefusal::InsufficientScope)
        }
    }

    /// The token or key in the headers.
    fn credentials<'a>(&self, headers: &'a HeaderMap) -> Result<&'a str, AuthRefusal> {
        let name = self.key_header().unwrap_or(&AUTHORIZATION);
        let mut values = headers.get_all(name).iter();
        let value = match (values.next(), values.next()) {
            (None, _) => return Err(AuthRefusal::Missing),
            // Which of the two counts would be a guess.
            (Some(_), Some(_)) => return Err(AuthRefusal::Malformed),
            (Some(value), None) => value.to_str().map_err(|_| AuthRefusal::Malformed)?,
        };
        if name != AUTHORIZATION {
            return Ok(value);
        }
        let (scheme, token) = value.split_once(' ').ok_or(AuthRefusal::Malformed)?;
        let token = token.trim_matches(' ');
        // RFC 6750, section 2.1.
        let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
        if !scheme.eq_ignore_ascii_case("bearer") || token.is_empty() || !token.bytes().all(is_token) {
            return Err(AuthRefusal::Malformed);
        }
        Ok(token)
    }
}

impl AuthMethod {
    async fn verify(&self, token: &str, others: &[String]) -> Result<Principal, AuthRefusal> {
        match self {
            Self::Jwt(expected, keys) => {
                let token = SignedToken::read(token)?;
                let keys = keys.for_token(&token).await.ok_or(AuthRefusal::Unavailable)?;
                token.verify(&keys, expected, others)
            }
            Self::Introspection(endpoint) => endpoint.verify(token, others).await,
            Self::ApiKey(..) => Err(AuthRefusal::Invalid("the key is not known")),
        }
    }
}

/// The address of another path, where `url` is that of `path`; `None` if it does not end like this, as behind a proxy.
pub(crate) fn sibling(url: &str, path: &str, other: &str) -> Option<String> {
    let base = url.trim_end_matches('/').strip_suffix(path.trim_end_matches('/'))?;
    if path == other { Some(url.to_owned()) } else { Some(format!("{base}{other}")) }
}

/// What identifies a token or a key, without the token or key.
fn digest_of(secret: &str) -> [u8; 32] {
    digest(&SHA256, secret.as_bytes()).as_ref().try_into().expect("SHA-256 has 32 bytes")
}

/// A digest, as 64 hexadecimal digits.
fn digest_from_hex(hex: &str) -> Option<[u8; 32]> {
    let digits: Vec<u8> = hex.chars().map(|digit| u8::try_from(digit.to_digit(16)?).ok()).collect::<Option<_>>()?;
    let bytes: Vec<u8> = digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect();
    bytes.try_into().ok().filter(|_| digits.len() == 64)
}

/// The tokens that have been verified, until they expire.
#[derive(Debug, Default)]
struct VerifiedTokens(Mutex<KnownTokens>);

#[derive(Debug, Default)]
struct KnownTokens {
    verified: HashMap<[u8; 32], (Principal, SystemTime)>,
    /// About how many bytes the callers take.
    bytes: usize,
    /// What the issuer refused a moment ago, and why.
    refused: HashMap<[u8; 32], (&'static str, SystemTime)>,
}

/// How many are remembered, and how many bytes of them.
const MOST_VERIFIED: usize = 10_000;
const MOST_BYTES: usize = 16 * 1024 * 1024;

impl VerifiedTokens {
    fn get(&self, id: &[u8; 32]) -> Option<Result<Principal, AuthRefusal>> {
        let tokens = &mut *lock(&self.0);
        let now = SystemTime::now();
        if let Some((reason, _)) = tokens.refused.get(id).filter(|(_, until)| now < *until) {
            return Some(Err(AuthRefusal::Invalid(reason)));
        }
        let (caller, until) = tokens.verified.get(id)?;
        if now < *until {
            return Some(Ok(caller.clone()));
        }
        tokens.bytes -= caller.size();
        tokens.verified.remove(id);
        None
    }

    fn insert(&self, id: [u8; 32], caller: &Principal, method: &AuthMethod) {
        let (now, size) = (SystemTime::now(), caller.size());
        let until = match method {
            AuthMethod::Introspection(_) => {
                let longest = now + VALID_FOR;
                caller.expires().map_or(longest, |expires| expires.min(longest))
            }
            _ => caller.expires().unwrap_or(now),
        };
        if size > MOST_BYTES / 16 {
            return;
        }
        let KnownTokens { verified, bytes, .. } = &mut *lock(&self.0);
        let is_full = |count: usize, bytes: usize| count >= MOST_VERIFIED || bytes + size > MOST_BYTES;
        if is_full(verified.len(), *bytes) {
            verified.retain(|_, (_, until)| *until > now);
            *bytes = verified.values().map(|(caller, _)| caller.size()).sum();
        }
        if is_full(verified.len(), *bytes) {
            // All of them are valid: they are verified again when they come again.
            verified.clear();
            *bytes = 0;
        }
        let before = verified.insert(id, (caller.clone(), until));
        *bytes = *bytes + size - before.map_or(0, |(caller, _)| caller.size());
    }

    /// Remembers for a moment that the issuer refused a token. Whoever sends many of them drives out no others.
    fn refuse(&self, id: [u8; 32], refusal: AuthRefusal, method: &AuthMethod) {
        let (AuthRefusal::Invalid(reason), AuthMethod::Introspection(_)) = (refusal, method) else { return };
        let refused = &mut lock(&self.0).refused;
        if refused.len() >= MOST_VERIFIED {
            refused.clear();
        }
        refused.insert(id, (reason, SystemTime::now() + REFUSED_FOR));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    #[test]
    fn a_verified_token_is_known_until_it_expires() {
        let jwt = Auth::jwt("https://id.example", "https://mcp.example").method;
        let introspection = Auth::introspection("https://id.example/introspect", "https://mcp.example").method;
        let (now, minute) = (SystemTime::now(), Duration::from_secs(60));
        for (what, method, expires, is_known, longest) in [
            ("valid", &jwt, Some(now + minute), true, minute),
            ("expired", &jwt, Some(now - minute), false, minute),
            ("a word that is asked for again", &introspection, Some(now + minute), true, VALID_FOR + minute / 60),
            ("the same without an end", &introspection, None, true, VALID_FOR + minute / 60),
            ("expired, whatever the issuer says", &introspection, Some(now - minute), false, minute),
        ] {
            let (tokens, id) = (VerifiedTokens::default(), digest_of(what));
            let caller = Principal::new("ada");
            let caller = expires.map_or_else(|| caller.clone(), |expires| caller.clone().with_expiry(expires));
            tokens.insert(id, &caller, method);
            let until = lock(&tokens.0).verified[&id].1;
            assert!(until <= SystemTime::now() + longest, "{what}");
            assert_eq!(tokens.get(&id).is_some(), is_known, "{what}");
            assert_eq!(lock(&tokens.0).verified.contains_key(&id), is_known, "{what}: it is forgotten");
        }
    }

    #[test]
    fn only_so_many_tokens_are_remembered() {
        let method = Auth::jwt("https://id.example", "https://mcp.example").method;
        let tokens = VerifiedTokens::default();
        let caller = Principal::new("ada").with_expiry(SystemTime::now() + Duration::from_secs(600));
        for number in 0..=MOST_VERIFIED {
            tokens.insert(digest_of(&number.to_string()), &caller, &method);
            assert!(lock(&tokens.0).verified.len() <= MOST_VERIFIED);
        }
        assert!(tokens.get(&digest_of(&MOST_VERIFIED.to_string())).is_some(), "the last is there");
    }

    #[test]
    fn a3_l5_only_so_many_bytes_of_tokens_are_remembered() {
        let method = Auth::jwt("https://id.example", "https://mcp.example").method;
        let tokens = VerifiedTokens::default();
        let caller = |bytes: usize| {
            let claims = json!({ "groups": [{ "name": "x".repeat(bytes) }] }).as_object().cloned().expect("an object");
            Principal::new("ada").with_claims(claims).with_expiry(SystemTime::now() + Duration::from_secs(600))
        };
        for number in 0..200 {
            tokens.insert(digest_of(&number.to_string()), &caller(500_000), &method);
            let known = lock(&tokens.0);
            assert_eq!(known.bytes, known.verified.values().map(|(caller, _)| caller.size()).sum::<usize>());
            assert!((500_000..=MOST_BYTES).contains(&known.bytes), "{}", known.bytes);
        }
        let huge = digest_of("huge");
        tokens.insert(huge, &caller(MOST_BYTES), &method);
        assert!(tokens.get(&huge).is_none(), "it is verified each time");
    }
}
