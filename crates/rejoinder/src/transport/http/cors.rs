//! What a browser is told about a page: that it may send requests here, and read the answers.
//!
//! Without this a browser sends nothing for a page of another origin: a request with JSON in it is one that it asks about
//! first. Cookies are never let through, so an allowed page can do here what it could do itself.

use ::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header, request::Parts};

use super::{ResponseBody, guard::is_origin_named};
use crate::http::Config;

/// The origin of a page that was named as welcome.
pub(super) struct Page(HeaderValue);

/// For how long a browser need not ask again, in seconds: two hours is the longest that any of them heeds.
const MAX_AGE: HeaderValue = HeaderValue::from_static("7200");

impl Page {
    /// The page, if the request comes from one.
    ///
    /// A page of this machine is not turned away, but what it could be is anybody's guess: unless it was named, the
    /// browser is left to its own rules.
    pub(super) fn of(headers: &HeaderMap, config: &Config) -> Option<Self> {
        let origin = headers.get(header::ORIGIN)?;
        is_origin_named(origin.to_str().ok()?, config).then(|| Self(origin.clone()))
    }

    /// The answer to a browser that asks what the page may send; `None` if it does not ask that.
    ///
    /// Any header will do: which ones mean something is for tools to say, and `Mcp-Param-` headers have any name.
    pub(super) fn preflight(request: &Parts, methods: HeaderValue) -> Option<Response<ResponseBody>> {
        if request.method != Method::OPTIONS || !request.headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD) {
            return None;
        }
        let mut response = Response::new(ResponseBody::empty());
        *response.status_mut() = StatusCode::NO_CONTENT;
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
        if let Some(wanted) = request.headers.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
            headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
        }
        headers.insert(header::ACCESS_CONTROL_MAX_AGE, MAX_AGE);
        Some(response)
    }

    /// Lets the page read the answer.
    pub(super) fn may_read(self, response: &mut Response<ResponseBody>) {
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, self.0);
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("Mcp-Session-Id"));
        headers.append(header::VARY, HeaderValue::from_static("Origin"));
    }
}
