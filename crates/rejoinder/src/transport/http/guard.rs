//! Which hosts and origins are served: without these checks, any web page could send requests to a local server.

use ::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, Uri, header, request::Parts, uri::Authority};

use super::ResponseBody;
use crate::server::http::Config;

/// Checks the host that a request is for, in its target and in its `Host` header, and its `Origin` header. Returns the
/// origin if it is that of a web page that `Config::allow_origin` names.
pub(super) fn check(
    headers: &HeaderMap,
    uri: &Uri,
    config: &Config,
    is_websocket: bool,
) -> Result<Option<PageOrigin>, &'static str> {
    if !config.any_host {
        let mut hosts = headers.get_all(header::HOST).iter();
        let host = match (hosts.next(), hosts.next()) {
            (Some(_), Some(_)) => return Err("the request has more than one Host header"),
            (Some(host), None) => host.to_str().ok(),
            // In HTTP/2 it is in the target.
            (None, _) => uri.authority().map(Authority::as_str),
        };
        let is_served = |host| host_name(host).is_some_and(|host| is_allowed(host, &config.allowed_hosts));
        let target = uri.authority().map(Authority::as_str);
        if !host.is_some_and(is_served) || !target.is_none_or(is_served) {
            return Err("the host in the Host header is not allowed; see `http::Config::allow_host`");
        }
    }
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let Some(origin) = origins.next() else { return Ok(None) };
    let text = origin.to_str().ok().filter(|_| origins.next().is_none());
    if text.is_some_and(|text| is_origin_named(text, config)) {
        return Ok(Some(PageOrigin(origin.clone())));
    }
    // Pages of this machine may send requests without being named, but then the browser applies its own rules to them. It has
    // none for WebSockets, which only the pages of this very address may open.
    let is_own = |text: &str| {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        text.split_once("://").is_some_and(|(_, origin)| host.is_some_and(|host| host.eq_ignore_ascii_case(origin)))
    };
    if text.is_some_and(|text| is_local_page(text) && (!is_websocket || is_own(text))) {
        return Ok(None);
    }
    Err("the origin in the Origin header is not allowed; see `http::Config::allow_origin`")
}

fn is_allowed(host: &str, allowed: &[impl AsRef<str>]) -> bool {
    allowed.iter().any(|allowed| allowed.as_ref().eq_ignore_ascii_case(host))
}

/// The host without its port, and an IPv6 address without its brackets.
fn host_name(authority: &str) -> Option<&str> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?,
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    (port.is_empty() || port.strip_prefix(':').is_some_and(is_number)).then_some(host)
}

/// Whether `Config::allow_origin` names it.
fn is_origin_named(origin: &str, config: &Config) -> bool {
    config.allowed_origins.iter().any(|allowed| allowed == "*" || allowed.eq_ignore_ascii_case(origin))
}

fn is_local_page(origin: &str) -> bool {
    let (Some(("http", authority)) | Some(("https", authority))) = origin.split_once("://") else { return false };
    host_name(authority).is_some_and(|host| is_allowed(host, &["localhost", "127.0.0.1", "::1"]))
}

/// The allowed origin of a web page: the browser asks before the page may send JSON, and before it may read the reply.
///
/// Credentials are never allowed, so a page cannot use its user's cookies here.
pub(super) struct PageOrigin(HeaderValue);

/// How long a browser may cache the answer, in seconds. No browser caches it for longer than two hours.
const MAX_AGE: HeaderValue = HeaderValue::from_static("7200");

impl PageOrigin {
    /// The reply to a preflight request; `None` if it is not one. All headers are allowed, because tools may read any.
    pub(super) fn preflight(request: &Parts, methods: impl FnOnce() -> HeaderValue) -> Option<Response<ResponseBody>> {
        if request.method != Method::OPTIONS || !request.headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD) {
            return None;
        }
        let mut response = Response::new(ResponseBody::empty());
        *response.status_mut() = StatusCode::NO_CONTENT;
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods());
        if let Some(wanted) = request.headers.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
            headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
        }
        headers.insert(header::ACCESS_CONTROL_MAX_AGE, MAX_AGE);
        Some(response)
    }

    /// Lets the page read the response.
    pub(super) fn may_read(self, response: &mut Response<ResponseBody>) {
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, self.0);
        headers.insert(
            header::ACCESS_CONTROL_EXPOSE_HEADERS,
            HeaderValue::from_static("Mcp-Session-Id, WWW-Authenticate"),
        );
        headers.append(header::VARY, HeaderValue::from_static("Origin"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_l16_the_target_of_a_request_counts_as_its_host_header_does() {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_static("localhost"));
        for (target, is_served) in [("http://localhost:1/mcp", true), ("http://evil.example/mcp", false)] {
            assert_eq!(
                check(&headers, &Uri::from_static(target), &Config::default(), false).is_ok(),
                is_served,
                "{target}"
            );
        }
    }

    fn verdict(host: &str, origin: Option<&str>, config: &Config) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().expect("a header"));
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().expect("a header"));
        }
        check(&headers, &Uri::from_static("/mcp"), config, false).is_ok()
    }

    #[test]
    fn only_loopback_is_served_unless_said_otherwise() {
        let config = Config::default();
        for host in ["localhost", "localhost:8000", "127.0.0.1:1", "[::1]:8000", "[::1]", "LOCALHOST"] {
            assert!(verdict(host, None, &config), "{host}");
        }
        for host in ["evil.example", "127.0.0.1.evil.example", "localhost:evil", "[::1", "::1", "localhost@evil", ""] {
            assert!(!verdict(host, None, &config), "{host}");
        }
        let more = Config { allowed_hosts: vec!["mcp.example".into()], ..Config::default() };
        assert!(verdict("mcp.example:443", None, &more));
        let any = Config { any_host: true, ..Config::default() };
        assert!(verdict("anything", None, &any));
    }

    #[test]
    fn c58_a_foreign_origin_is_refused() {
        let config = Config::default();
        for origin in ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:9"] {
            assert!(verdict("localhost", Some(origin), &config), "{origin}");
        }
        for origin in ["https://evil.example", "null", "http://localhost.evil.example", "localhost", ""] {
            assert!(!verdict("localhost", Some(origin), &config), "{origin}");
        }
        for scheme in ["file", "chrome-extension", "ws", ""] {
            assert!(!verdict("localhost", Some(&format!("{scheme}://localhost")), &config), "{scheme}");
        }
        let app = Config { allowed_origins: vec!["https://app.example".into()], ..Config::default() };
        assert!(verdict("localhost", Some("https://app.example"), &app));
        assert!(!verdict("localhost", Some("http://app.example"), &app));
    }
}
