//! The versions of the protocol. They are dates, so a newer version is a greater text.
//!
//! ```
//! use rejoinder_wire::version;
//!
//! assert!(version::is_session("2025-11-25") && !version::is_session(version::STATELESS));
//! assert!(version::V2025_11_25 < version::STATELESS);
//! ```

/// Has no sessions: every request says all about its client.
pub const V2026_07_28: &str = "2026-07-28";
/// Added icons, and questions in URL mode.
pub const V2025_11_25: &str = "2025-11-25";
/// Added elicitation, structured content and links to resources.
pub const V2025_06_18: &str = "2025-06-18";
/// Added Streamable HTTP, audio, annotations of tools and batches.
pub const V2025_03_26: &str = "2025-03-26";
/// The first version.
pub const V2024_11_05: &str = "2024-11-05";

/// The newest version without sessions.
pub const STATELESS: &str = V2026_07_28;

/// The versions with sessions, newest first.
pub const SESSION: &[&str] = &[V2025_11_25, V2025_06_18, V2025_03_26, V2024_11_05];

/// Whether a version has sessions.
pub fn is_session(version: &str) -> bool {
    SESSION.contains(&version)
}
