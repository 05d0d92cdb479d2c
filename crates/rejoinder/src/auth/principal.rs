use std::{
    fmt,
    hash::{Hash, Hasher},
    sync::Arc,
    time::SystemTime,
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::JsonObject;

/// The caller of a request, as something that the server trusts has established it.
///
/// A function takes it as a parameter; the model neither sees nor sets it. `Option<Principal>` is for functions that anonymous
/// callers may use too; a `Principal` without a caller ends the call before anything else runs.
///
/// ```
/// use rejoinder::{auth::Principal, prelude::*, testing::Client};
/// use serde_json::json;
///
/// /// Delete a project.
/// #[tool]
/// async fn delete(project: String, caller: Principal) -> Result<String, CallError> {
///     if !caller.has_scope("projects:write") {
///         return Err(CallError::new("you may only read projects"));
///     }
///     Ok(format!("{} deleted {project}", caller.subject()))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
/// let server = Server::new("projects", "1.0.0").tools(tools![delete]);
/// let ada = Principal::new("ada").with_scopes(["projects:write"]);
/// let client = Client::new(server.principal(move |_| Some(ada.clone())));
/// assert_eq!(client.call_tool("delete", json!({ "project": "x" })).await?.text(), "ada deleted x");
/// # Ok(())
/// # }
/// ```
///
/// It comes from the first of these that applies:
///
/// * [`Server::principal`](crate::Server::principal), a function of yours;
/// * a `Principal` in the extensions of the HTTP request, where a layer of your application puts it;
/// * on stdio, [`Server::stdio_principal`](crate::Server::stdio_principal).
///
/// Two principals are equal if they are the same caller: issuer and subject. States and sessions belong to a caller in this
/// sense, so a fresh token of the same user continues both.
///
/// It is cheap to clone. `Debug` hides the subject and the claims, because debug output ends up in logs.
#[must_use]
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Principal(Arc<PrincipalParts>);

#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct PrincipalParts {
    subject: String,
    issuer: Option<String>,
    client_id: Option<String>,
    scopes: Vec<String>,
    claims: JsonObject,
    expires: Option<SystemTime>,
}

/// Whether a caller can have it as a scope: what may stand in a header between quotes (RFC 6749, section 3.3).
pub(crate) fn is_scope(scope: &str) -> bool {
    !scope.is_empty() && scope.bytes().all(|byte| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e))
}

instead!(
    ClaimsOfPrincipal for Principal,
    "a caller has a `subject()`, and whatever else its token says is a claim: `caller.claim(\"email\")`",
    "not a method of `Principal`": id name email username roles
);

impl Principal {
    /// A caller with this name, and without scopes and claims.
    ///
    /// ```
    /// use rejoinder::auth::Principal;
    ///
    /// let caller = Principal::new("ada").with_scopes(["files:read"]);
    /// assert_eq!(caller.subject(), "ada");
    /// assert!(caller.has_scope("files:read") && !caller.has_scope("files:write"));
    /// ```
    pub fn new(subject: impl Into<String>) -> Self {
        Self(Arc::new(PrincipalParts { subject: subject.into(), ..PrincipalParts::default() }))
    }

    /// With the issuer that vouches for the caller. The same subject of another issuer is another caller.
    ///
    /// ```
    /// use rejoinder::auth::Principal;
    ///
    /// let [ours, theirs] = ["https://id.example.com", "https://evil.example"];
    /// assert_ne!(Principal::new("ada").with_issuer(ours), Principal::new("ada").with_issuer(theirs));
    /// ```
    pub fn with_issuer(self, issuer: impl Into<String>) -> Self {
        self.change(|parts| parts.issuer = Some(issuer.into()))
    }

    /// With the id of the OAuth client that acts for the caller.
    pub fn with_client_id(self, client_id: impl Into<String>) -> Self {
        self.change(|parts| parts.client_id = Some(client_id.into()))
    }

    /// With these scopes, in place of those it had.
    pub fn with_scopes<S: Into<String>>(self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.change(|parts| parts.scopes = scopes.into_iter().map(Into::into).collect())
    }

    /// With these claims, in place of those it had: whatever else its token says.
    pub fn with_claims(self, claims: JsonObject) -> Self {
        self.change(|parts| parts.claims = claims)
    }

    /// With the time when what proves the caller's identity expires.
    pub fn with_expiry(self, expires: SystemTime) -> Self {
        self.change(|parts| parts.expires = Some(expires))
    }

    fn change(mut self, change: impl FnOnce(&mut PrincipalParts)) -> Self {
        change(Arc::make_mut(&mut self.0));
        self
    }

    /// Who it is, for its [issuer](Self::issuer): the claim `sub` of a token.
    pub fn subject(&self) -> &str {
        &self.0.subject
    }

    /// Who vouches for it: the claim `iss` of a token.
    pub fn issuer(&self) -> Option<&str> {
        self.0.issuer.as_deref()
    }

    /// The OAuth client that acts for it.
    pub fn client_id(&self) -> Option<&str> {
        self.0.client_id.as_deref()
    }

    /// Returns the scopes of the caller.
    pub fn scopes(&self) -> &[String] {
        &self.0.scopes
    }

    /// Whether it has the scope.
    pub fn has_scope(&self, scope: &str) -> bool {
        self.0.scopes.iter().any(|has| has == scope)
    }

    /// Everything that its token says.
    pub fn claims(&self) -> &JsonObject {
        &self.0.claims
    }

    /// One of its claims.
    ///
    /// ```
    /// use rejoinder::auth::Principal;
    /// use serde_json::json;
    ///
    /// let claims = json!({ "plan": "pro" }).as_object().cloned().unwrap_or_default();
    /// assert_eq!(Principal::new("ada").with_claims(claims).claim("plan"), Some(&json!("pro")));
    /// ```
    pub fn claim(&self, name: &str) -> Option<&Value> {
        self.0.claims.get(name)
    }

    /// Whether what proves its identity has expired.
    pub(crate) fn is_expired(&self) -> bool {
        self.0.expires.is_some_and(|expires| expires <= SystemTime::now())
    }

    /// About how many bytes of memory it takes.
    #[cfg(feature = "auth")]
    pub(super) fn size(&self) -> usize {
        fn of_value(value: &Value) -> usize {
            const EACH: usize = 64;
            EACH + match value {
                Value::String(text) => text.len(),
                Value::Array(list) => list.iter().map(of_value).sum(),
                Value::Object(members) => members.iter().map(|(name, value)| EACH + name.len() + of_value(value)).sum(),
                _ => 0,
            }
        }
        let PrincipalParts { scopes, claims, subject, .. } = &*self.0;
        let claims = claims.iter().map(|(name, value)| name.len() + of_value(value));
        256 + subject.len() + scopes.iter().map(|scope| 24 + scope.len()).sum::<usize>() + claims.sum::<usize>()
    }

    /// When what proves its identity expires.
    pub fn expires(&self) -> Option<SystemTime> {
        self.0.expires
    }
}

impl PartialEq for Principal {
    fn eq(&self, other: &Self) -> bool {
        (self.subject(), self.issuer()) == (other.subject(), other.issuer())
    }
}

impl Eq for Principal {}

impl Hash for Principal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.subject(), self.issuer()).hash(state);
    }
}

impl fmt::Debug for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Principal").field("scopes", &self.scopes()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    fn ada() -> Principal {
        let claims = json!({ "plan": "hunter2" }).as_object().cloned().expect("an object");
        let expires = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let ada = Principal::new("ada").with_issuer("https://id.example").with_client_id("cli");
        ada.with_scopes(["a", "b"]).with_claims(claims).with_expiry(expires)
    }

    #[test]
    fn it_is_read_back_as_it_was_stored() {
        for caller in [ada(), Principal::new("bob")] {
            let stored = serde_json::to_string(&caller).expect("it can be stored");
            let read: Principal = serde_json::from_str(&stored).expect("it can be read");
            assert_eq!((read.subject(), read.issuer()), (caller.subject(), caller.issuer()));
            assert_eq!((read.scopes(), read.claims()), (caller.scopes(), caller.claims()));
            assert_eq!((read.client_id(), read.expires()), (caller.client_id(), caller.expires()));
        }
    }

    #[test]
    fn a_caller_is_an_issuer_and_a_subject() {
        let other = Principal::new("ada").with_issuer("https://id.example");
        assert_eq!(ada(), other, "scopes and claims do not matter");
        let pairs = [("ab", Some("c")), ("a", Some("bc")), ("abc", None), ("abc", Some("")), ("", Some("abc"))];
        let callers = pairs.map(|(subject, issuer)| {
            issuer.map_or_else(|| Principal::new(subject), |issuer| Principal::new(subject).with_issuer(issuer))
        });
        let distinct: std::collections::HashSet<_> = callers.iter().collect();
        assert_eq!(distinct.len(), callers.len());
    }

    #[test]
    fn what_is_printed_names_neither_the_caller_nor_its_claims() {
        let printed = format!("{:?}", ada());
        assert!(["ada", "hunter2", "id.example"].iter().all(|secret| !printed.contains(secret)), "{printed}");
    }
}
