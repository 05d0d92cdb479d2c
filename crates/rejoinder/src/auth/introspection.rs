//! Opaque tokens: the issuer says whether they are valid (RFC 7662).

use std::{fmt, time::Duration};

use ::http::{HeaderValue, Request, header};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use http_body_util::Full;
use serde_json::Value;
use tokio::{sync::Semaphore, time::timeout};

use super::{
    AuthRefusal, Principal,
    fetch::{LONGEST, fetch, trusted_url},
    jwt::{Claims, principal},
};
use crate::error::RefusalLog;

/// For how long the word of the issuer counts: it may revoke a token at any time.
pub(super) const VALID_FOR: Duration = Duration::from_secs(30);

/// The same if it refuses a token, so that a client that sends it again and again keeps nobody waiting.
pub(super) const REFUSED_FOR: Duration = Duration::from_secs(5);

/// How many tokens are asked about at once: anybody can send tokens that nobody has issued.
const MOST_AT_ONCE: usize = 32;

/// The endpoint of an issuer that says whether a token is valid.
pub(super) struct Introspection {
    pub(super) url: String,
    pub(super) audience: String,
    /// The id and the secret of this server.
    pub(super) client: Option<(String, String)>,
    places: Semaphore,
    /// Clients cause failures as often as they like: each token that is not known is one.
    failures: RefusalLog<()>,
}

impl Introspection {
    pub(super) fn new(url: String, audience: String) -> Self {
        Self { url, audience, client: None, places: Semaphore::new(MOST_AT_ONCE), failures: RefusalLog::default() }
    }

    /// Asks the issuer about a token.
    pub(super) async fn verify(&self, token: &str, others: &[String]) -> Result<Principal, AuthRefusal> {
        let no_answer = |error: &dyn fmt::Display| {
            if let Some(times) = self.failures.due(()) {
                tracing::warn!(url = self.url, %error, times, "cannot introspect a token");
            }
            AuthRefusal::Unavailable
        };
        // Tokens that nobody has issued must not make others wait for long while the endpoint hangs.
        let place = timeout(LONGEST, self.places.acquire()).await;
        let _place = place.map_err(|_| no_answer(&"too many tokens wait for an answer"))?;
        let uri = trusted_url(&self.url).map_err(|error| no_answer(&error))?;
        let mut request = Request::post(uri)
            .header(header::ACCEPT, "application/json")
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        if let Some((id, secret)) = &self.client {
            let pair = STANDARD.encode(format!("{}:{}", form_encoded(id), form_encoded(secret)));
            let mut value = HeaderValue::try_from(format!("Basic {pair}")).expect("base64 is a header's value");
            value.set_sensitive(true);
            request = request.header(header::AUTHORIZATION, value);
        }
        let form = format!("token={}&token_type_hint=access_token", form_encoded(token));
        let request = request.body(Full::from(form)).expect("an address and headers are valid");
        let (_, answer) = fetch(request).await.map_err(|error| no_answer(&error))?;
        let Claims(mut claims) = serde_json::from_slice(&answer)
            .map_err(|_| no_answer(&"its answer is not a JSON object in which each claim occurs once"))?;
        if claims.get("active") != Some(&Value::Bool(true)) {
            return Err(AuthRefusal::Invalid("the token is not active"));
        }
        if !claims.contains_key("sub")
            && let Some(client) = claims.get("client_id").cloned()
        {
            claims.insert("sub".to_owned(), client);
        }
        // So that two endpoints never speak of the same caller.
        claims.entry("iss").or_insert_with(|| self.url.clone().into());
        principal(claims, &self.audience, others)
    }
}

/// Without the secret.
impl fmt::Debug for Introspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Introspection").field("url", &self.url).finish_non_exhaustive()
    }
}

/// As forms are encoded: everything but letters, digits and a few marks.
fn form_encoded(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let encoded =
        text.bytes().map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") });
    encoded.collect()
}
