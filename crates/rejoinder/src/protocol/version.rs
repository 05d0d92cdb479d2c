use super::Envelope;

/// The version of the stateless era that this server speaks.
pub(crate) const MODERN: &str = "2026-07-28";

/// The same, as JSON.
const MODERN_JSON: &str = "\"2026-07-28\"";

/// The versions of the session era.
pub(crate) const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// Whether a version belongs to the session era.
pub(crate) fn is_legacy(version: &str) -> bool {
    LEGACY.contains(&version)
}

/// Every version that is served, newest first.
pub(crate) fn supported(sessions: bool) -> Vec<&'static str> {
    std::iter::once(MODERN).chain(LEGACY.into_iter().filter(|_| sessions)).collect()
}

/// Whether a message belongs to the session era: neither `_meta` nor the header names a newer version.
pub(crate) fn is_of_session<'h>(envelope: &Envelope<'_>, header: impl FnOnce() -> Option<&'h str>) -> bool {
    let meta = envelope.params.meta.as_ref().and_then(|meta| meta.raw_version());
    let old = |version: &str| is_legacy(version.trim_matches('"'));
    meta != Some(MODERN_JSON) && meta.is_none_or(old) && header().is_none_or(old)
}
