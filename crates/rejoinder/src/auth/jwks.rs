//! The keys of an issuer: fetched once at a time, kept for a while, and fetched again when a token names an unknown key.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};

use ::http::{HeaderMap, Request, Uri, header};
use bytes::Bytes;
use http_body_util::Full;
use serde_json::Value;
use tokio::{sync::Mutex as AsyncMutex, time::Instant};

use super::{
    fetch::{FetchError, fetch, trusted_url},
    jwt::{SignedToken, VerifyingKey},
};
use crate::error::lock;

/// How long keys are fresh, if the issuer does not say, and whatever it says.
const FRESH: Duration = Duration::from_secs(5 * 60);
const LEAST_FRESH: Duration = Duration::from_secs(60);
const MOST_FRESH: Duration = Duration::from_secs(24 * 60 * 60);

/// For how long after that they are used while the issuer cannot be reached.
const MOST_STALE: Duration = Duration::from_secs(24 * 60 * 60);

/// The least time between two fetches that unknown keys cause: anybody can name keys that do not exist.
const BETWEEN_REFETCHES: Duration = Duration::from_secs(30);

/// The least time between a fetch that failed and the next one.
const AFTER_FAILURE: Duration = Duration::from_secs(5);

/// Where keys come from.
#[derive(Debug, Clone)]
pub(super) enum KeySource {
    /// From the issuer, at an address that its metadata names.
    Issuer(String),
    Url(String),
    /// Read again when a token names an unknown key.
    File(PathBuf),
    Json(String),
}

/// The keys of an issuer.
#[derive(Debug)]
pub(super) struct IssuerKeys {
    source: KeySource,
    kept: Mutex<KeptKeys>,
    /// Held while keys are fetched.
    fetching: AsyncMutex<()>,
}

#[derive(Debug, Default)]
struct KeptKeys {
    keys: Option<Arc<[VerifyingKey]>>,
    /// Until when they are fresh.
    fresh_until: Option<Instant>,
    /// No fetch for the sake of an unknown key, or after a failure, before this.
    next_fetch: Option<Instant>,
    /// How many fetches have ended.
    fetches: u64,
}

impl KeptKeys {
    fn usable(&self, now: Instant) -> Option<Arc<[VerifyingKey]>> {
        self.keys.clone().filter(|_| self.fresh_until.is_some_and(|until| now < until + MOST_STALE))
    }
}

impl IssuerKeys {
    pub(super) fn new(source: KeySource) -> Self {
        Self { source, kept: Mutex::default(), fetching: AsyncMutex::new(()) }
    }

    /// The address that is asked for them, if one is.
    pub(super) fn address(&self) -> Option<&String> {
        match &self.source {
            KeySource::Issuer(url) | KeySource::Url(url) => Some(url),
            KeySource::File(_) | KeySource::Json(_) => None,
        }
    }

    /// The keys, among which there is one for the token if the issuer has it.
    pub(super) async fn for_token(self: &Arc<Self>, token: &SignedToken<'_>) -> Option<Arc<[VerifyingKey]>> {
        let fetched = {
            let (kept, now) = (lock(&self.kept), Instant::now());
            let keys = kept.usable(now);
            let is_known = keys.as_ref().is_some_and(|keys| keys.iter().any(|key| key.is_for(token)));
            let is_fresh = kept.fresh_until.is_some_and(|until| now < until);
            if is_known && is_fresh || kept.next_fetch.is_some_and(|next| now < next) {
                return keys;
            }
            // Spawned: a client that leaves must not stop what others wait for.
            let (keys_of, fetches, is_refetch) = (Arc::clone(self), kept.fetches, keys.is_some() && !is_known);
            let fetched = tokio::spawn(async move { keys_of.fetch_after(fetches, is_refetch).await });
            if is_known {
                // They are used while newer ones are on their way.
                return keys;
            }
            fetched
        };
        let _ = fetched.await;
        lock(&self.kept).usable(Instant::now())
    }

    /// Fetches the keys, unless somebody else has done so since that fetch.
    async fn fetch_after(&self, fetches: u64, is_refetch: bool) {
        let _one_at_a_time = self.fetching.lock().await;
        if lock(&self.kept).fetches != fetches {
            return;
        }
        let fetched = self.fetch().await;
        let (mut kept, now) = (lock(&self.kept), Instant::now());
        kept.fetches += 1;
        match fetched {
            Ok((keys, fresh)) => {
                kept.keys = Some(keys.into());
                kept.fresh_until = Some(now + fresh);
                kept.next_fetch = is_refetch.then_some(now + BETWEEN_REFETCHES);
            }
            Err(error) => {
                tracing::warn!(source = %self.source, %error, "cannot get the keys that verify tokens");
                kept.next_fetch = Some(now + if is_refetch { BETWEEN_REFETCHES } else { AFTER_FAILURE });
            }
        }
    }

    async fn fetch(&self) -> Result<(Vec<VerifyingKey>, Duration), FetchError> {
        let read = |json: &[u8]| VerifyingKey::read_set(json).map_err(FetchError::Unexpected);
        match &self.source {
            KeySource::Json(json) => Ok((read(json.as_bytes())?, MOST_FRESH)),
            KeySource::File(path) => {
                let json = std::fs::read(path).map_err(|error| FetchError::Unreachable(error.to_string()))?;
                Ok((read(&json)?, MOST_FRESH))
            }
            KeySource::Url(url) => keys_at(&trusted(url)?).await,
            KeySource::Issuer(issuer) => keys_at(&discover(issuer).await?).await,
        }
    }
}

impl std::fmt::Display for KeySource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Issuer(url) | Self::Url(url) => f.write_str(url),
            Self::File(path) => path.display().fmt(f),
            Self::Json(_) => f.write_str("the given JWK set"),
        }
    }
}

fn trusted(url: &str) -> Result<Uri, FetchError> {
    trusted_url(url)
        .map_err(|_| FetchError::Unexpected("the address of the keys is neither https:// nor on this machine"))
}

fn get(uri: &Uri) -> Request<Full<Bytes>> {
    let request = Request::get(uri).header(header::ACCEPT, "application/json").body(Full::default());
    request.expect("an address and a header are valid")
}

async fn keys_at(uri: &Uri) -> Result<(Vec<VerifyingKey>, Duration), FetchError> {
    let (headers, body) = fetch(get(uri)).await?;
    let keys = VerifyingKey::read_set(&body).map_err(FetchError::Unexpected)?;
    Ok((keys, max_age(&headers).unwrap_or(FRESH).clamp(LEAST_FRESH, MOST_FRESH)))
}

/// How long the answer may be kept.
fn max_age(headers: &HeaderMap) -> Option<Duration> {
    let directives = headers.get_all(header::CACHE_CONTROL).iter().filter_map(|value| value.to_str().ok());
    let mut directives = directives.flat_map(|value| value.split(',')).map(str::trim);
    let seconds = directives.find_map(|directive| directive.strip_prefix("max-age="))?;
    seconds.trim_matches('"').parse().ok().map(Duration::from_secs)
}

/// Where the issuer's metadata (OpenID Connect Discovery, RFC 8414) says that its keys are; the usual place without metadata.
async fn discover(issuer: &str) -> Result<Uri, FetchError> {
    let (base, uri) = (issuer.trim_end_matches('/'), trusted(issuer)?);
    let path = uri.path().trim_end_matches('/');
    let origin = base.strip_suffix(path).unwrap_or(base);
    let places = [
        format!("{base}/.well-known/openid-configuration"),
        format!("{origin}/.well-known/oauth-authorization-server{path}"),
    ];
    for place in places {
        let metadata = match fetch(get(&trusted(&place)?)).await {
            Ok((_, metadata)) => metadata,
            Err(FetchError::Status(_)) => continue,
            Err(error) => return Err(error),
        };
        let metadata: Value =
            serde_json::from_slice(&metadata).map_err(|_| FetchError::Unexpected("its metadata is not JSON"))?;
        if metadata["issuer"].as_str() != Some(issuer) {
            return Err(FetchError::Unexpected("its metadata is of another issuer"));
        }
        let keys = metadata["jwks_uri"].as_str().ok_or(FetchError::Unexpected("its metadata has no `jwks_uri`"))?;
        return trusted(keys);
    }
    trusted(&format!("{base}/.well-known/jwks.json"))
}
