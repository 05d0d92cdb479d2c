//! Tokens and issuers that lie. Nothing gets through, and the log has each attempt without the secret.

use std::{collections::HashSet, time::Duration};

use ::http::Method;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use rejoinder::auth::Auth;
use ring::{hmac, rsa::PublicKeyComponents};
use serde_json::{Value, json};

use crate::{
    auth::{
        AUDIENCE, call, initialize,
        issuer::{Answer, Issuer, now},
        keys::pass,
        send, service, whoami_with,
    },
    logged::Logged,
};

fn b64(text: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(text)
}

/// A token signed with a shared secret.
fn hmac_signed(header: &Value, claims: &Value, secret: &[u8]) -> String {
    let signed = format!("{}.{}", b64(header.to_string()), b64(claims.to_string()));
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), signed.as_bytes());
    format!("{signed}.{}", b64(tag))
}

#[tokio::test]
async fn no_forged_token_gets_through() {
    let (issuer, other) = (Issuer::start().await, Issuer::start().await);
    let service = service(issuer.auth());
    let (claims, good) = (issuer.claims(), issuer.token());
    let parts: Vec<&str> = good.split('.').collect();
    let admin = b64(json!({ "iss": issuer.url, "aud": AUDIENCE, "sub": "root", "exp": now() + 600 }).to_string());
    let unsigned =
        |algorithm: &str| format!("{}.{}.", b64(json!({ "alg": algorithm }).to_string()), b64(claims.to_string()));
    let rsa: PublicKeyComponents<Vec<u8>> = issuer.rsa.public().into();
    let hs256 = json!({ "alg": "HS256", "kid": "rsa" });
    let without = |claim: &str| {
        let mut claims = claims.clone();
        claims.as_object_mut().unwrap().remove(claim);
        issuer.sign(json!({ "alg": "ES256", "kid": "p256" }), &claims)
    };
    let header = |header: Value| issuer.sign(header, &claims);
    let attacks: Vec<(&str, String)> = vec![
        ("other claims under a good signature", format!("{}.{admin}.{}", parts[0], parts[2])),
        ("no signature", format!("{}.{}.", parts[0], parts[1])),
        ("half a signature", format!("{}.{}.{}", parts[0], parts[1], &parts[2][..40])),
        ("alg: none", unsigned("none")),
        ("alg: None", unsigned("None")),
        ("alg: NONE", unsigned("NONE")),
        ("no alg", format!("{}.{}.", b64("{}"), b64(claims.to_string()))),
        ("HS256 with the modulus of the public key", hmac_signed(&hs256, &claims, &rsa.n)),
        ("HS256 with the JWK set", hmac_signed(&hs256, &claims, issuer.jwks().to_string().as_bytes())),
        ("HS256 with an empty secret", hmac_signed(&hs256, &claims, b"")),
        (
            "HS256 with the shared secret of the set",
            hmac_signed(
                &json!({ "alg": "HS256", "kid": "shared" }),
                &claims,
                b"a shared secret, which is not for signatures here",
            ),
        ),
        (
            "signed by another issuer with the same ids of keys",
            other.sign(json!({ "alg": "ES256", "kid": "p256" }), &claims),
        ),
        ("of another issuer", other.token()),
        ("the algorithm of another key", header(json!({ "alg": "ES256", "kid": "rsa" }))),
        ("an algorithm that the key is not for", header(json!({ "alg": "RS256", "kid": "p256" }))),
        (
            "a key of its own in the header",
            header(json!({ "alg": "ES256", "jwk": other.jwks()["keys"][1], "kid": "x" })),
        ),
        (
            "an address of keys in the header",
            header(json!({ "alg": "ES256", "jku": format!("{}/keys", other.url), "kid": "x" })),
        ),
        ("critical fields", header(json!({ "alg": "ES256", "kid": "p256", "crit": ["b64"], "b64": false }))),
        ("of another type", header(json!({ "alg": "ES256", "kid": "p256", "typ": "dpop+jwt" }))),
        ("a logout token", header(json!({ "alg": "ES256", "kid": "p256", "typ": "logout+jwt" }))),
        ("a path as the id of a key", header(json!({ "alg": "ES256", "kid": "../../../etc/passwd" }))),
        ("an id that is not a string", header(json!({ "alg": "ES256", "kid": { "$ne": null } }))),
        ("expired", issuer.token_with(json!({ "exp": now() - 31 }))),
        ("expired long ago", issuer.token_with(json!({ "exp": 0 }))),
        ("expires at no time", issuer.token_with(json!({ "exp": "tomorrow" }))),
        ("expires at a time that no clock shows", issuer.token_with(json!({ "exp": 1e300 }))),
        ("expires never", without("exp")),
        ("not valid yet", issuer.token_with(json!({ "nbf": now() + 600 }))),
        ("valid from no time on", issuer.token_with(json!({ "nbf": "yesterday" }))),
        ("for another audience", issuer.token_with(json!({ "aud": "https://other.example/mcp" }))),
        ("for a longer audience", issuer.token_with(json!({ "aud": format!("{AUDIENCE}/admin") }))),
        ("for other audiences", issuer.token_with(json!({ "aud": ["https://other.example", "https://mcp.example"] }))),
        ("for an audience in an object", issuer.token_with(json!({ "aud": { AUDIENCE: true } }))),
        ("for no audience", without("aud")),
        ("by another issuer's name", issuer.token_with(json!({ "iss": "https://evil.example" }))),
        ("by a longer issuer's name", issuer.token_with(json!({ "iss": format!("{}/", issuer.url) }))),
        ("by nobody", without("iss")),
        ("about nobody", without("sub")),
        ("about an empty subject", issuer.token_with(json!({ "sub": "" }))),
        ("about a subject that is not a string", issuer.token_with(json!({ "sub": ["ada"] }))),
        ("claims that are not an object", issuer.sign(json!({ "alg": "ES256", "kid": "p256" }), &json!(["ada"]))),
        ("padding", format!("{good}==")),
        ("four parts", format!("{good}.e30")),
        ("one part", "hunter2".to_owned()),
        ("dots", "..".to_owned()),
        ("huge", format!("{}.{}.{}", parts[0], b64("x".repeat(20_000)), parts[2])),
    ];
    let (logged, _guard) = Logged::here();
    for (what, token) in &attacks {
        let reply = whoami_with(&service, &format!("Bearer {token}")).await;
        assert_eq!(reply.status, 401, "{what}");
        assert!(reply.challenge().contains(r#"error="invalid_token""#), "{what}: {reply:?}");
        let shown = format!("{} {}", reply.body, reply.challenge());
        assert!(!shown.contains("hunter2") && !shown.contains("signature"), "the answer says why: {shown}");
        assert!(
            token.split('.').filter(|part| part.len() > 8).all(|part| !logged.text().contains(part)),
            "{what} is logged"
        );
    }
    let logged = logged.text();
    let refused: Vec<&str> = logged.lines().filter(|line| line.contains("refused a request")).collect();
    assert!(refused.iter().all(|line| line.contains(r#"peer="192.0.2.7:4711""#)), "with its address: {logged}");
    let reasons = refused.iter().filter_map(|line| line.split_once("refused a request: "));
    let reasons: HashSet<_> = reasons.map(|(_, reason)| reason.split(" peer=").next()).collect();
    assert!(reasons.len() > 5, "each reason is logged: {logged}");
    assert_eq!(reasons.len(), refused.len(), "and only once, so that a client cannot fill the log: {logged}");
    assert!(!logged.contains("root") && !logged.contains("evil.example"), "claims are not logged: {logged}");
    assert_eq!(whoami_with(&service, &format!("Bearer {good}")).await.status, 200, "the good token is still good");
    assert_eq!(
        whoami_with(&service, &format!("Bearer {}", issuer.token_with(json!({ "exp": now() - 5 })))).await.status,
        200,
        "clocks differ"
    );
}

#[tokio::test]
async fn credentials_that_cannot_be_read_are_refused() {
    let issuer = Issuer::start().await;
    let service = service(issuer.auth());
    let good = issuer.token();
    let bearer = format!("Bearer {good}");
    let (logged, _guard) = Logged::here();
    for value in [
        "Bearer",
        "Bearer ",
        "Basic YWRhOnB3",
        &*good,
        "Bearer a b",
        "Bearer a,Bearer b",
        "Negotiate x",
        &format!("Bearer {good}, x"),
    ] {
        assert_eq!(whoami_with(&service, value).await.status, 400, "{value}");
    }
    let twice = call(&service, "whoami", &[("authorization", &bearer), ("authorization", &bearer)], json!({})).await;
    assert_eq!(twice.status, 400);
    let logged = logged.text();
    let mut refused = logged.lines().filter(|line| line.contains("its credentials cannot be read"));
    assert!(refused.next().is_some_and(|line| line.contains(r#"peer="192.0.2.7:4711""#)), "{logged}");
    assert_eq!(refused.next(), None, "a client cannot fill the log");
    assert!(!logged.contains(&good) && !logged.contains("YWRhOnB3"), "{logged}");
    // Only the header `Authorization` is read.
    for (name, value) in
        [("x-authorization", &*bearer), ("cookie", &*format!("access_token={good}")), ("x-user", "ada")]
    {
        assert_eq!(call(&service, "whoami", &[(name, value)], json!({})).await.status, 401, "{name}");
    }
}

#[tokio::test]
async fn an_identity_cannot_be_smuggled_beside_the_token() {
    let issuer = Issuer::start().await;
    let service = service(issuer.auth());
    let bearer = format!("Bearer {}", issuer.token());
    let headers =
        [("authorization", &*bearer), ("x-user", "root"), ("x-forwarded-user", "root"), ("principal", "root")];
    let rest = json!({ "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
        "principal": { "subject": "root" }, "sub": "root", "authorization": "Bearer root",
    }, "principal": { "subject": "root" } });
    assert_eq!(call(&service, "whoami", &headers, rest).await.text(), r#"ada ["a", "b"]"#);
}

/// A token is not bound to a connection, so each client that presents it counts as its owner.
#[tokio::test]
async fn a_replayed_token_is_good_for_its_own_server_and_caller_only() {
    let issuer = Issuer::start().await;
    let (ours, theirs) = (service(issuer.auth()), service(Auth::jwt(&issuer.url, "https://other.example/mcp")));
    let ada = format!("Bearer {}", issuer.token());
    for _ in 0..3 {
        assert_eq!(whoami_with(&ours, &ada).await.text(), r#"ada ["a", "b"]"#);
        assert_eq!(whoami_with(&theirs, &ada).await.status, 401, "it is for another server");
    }
    // A token that is refused once is refused always, also after a good one, and although it differs in one letter only.
    let forged = format!("{}A", &ada[..ada.len() - 1]);
    let forged = if forged == ada { format!("{}Q", &ada[..ada.len() - 1]) } else { forged };
    for token in [&forged, &ada, &forged] {
        assert_eq!(whoami_with(&ours, token).await.status, if *token == ada { 200 } else { 401 });
    }
}

/// What an authenticated caller tries is logged too, with its address, and without what it sent.
#[tokio::test]
async fn each_attempt_behind_the_token_is_logged_with_its_address() {
    let issuer = Issuer::start().await;
    let service = service(issuer.auth());
    let [ada, bob] =
        ["lovelace", "babbage"].map(|subject| format!("Bearer {}", issuer.token_with(json!({ "sub": subject }))));
    let asked = call(&service, "ask", &[("authorization", &ada)], json!({})).await;
    let state = asked.body["result"]["requestState"].as_str().unwrap();
    let begun = send(&service, Method::POST, &[("authorization", &ada)], initialize()).await;
    let session = begun.headers["mcp-session-id"].to_str().unwrap();
    let (logged, _guard) = Logged::here();
    let attempt = async |tool: &str, rest: Value, expected: &str| {
        let before = logged.text().len();
        assert_ne!(call(&service, tool, &[("authorization", &bob)], rest).await.status, 200, "{tool}");
        let line = logged.text()[before..].to_owned();
        assert!(line.contains(expected) && line.contains("peer=192.0.2.7:4711"), "{tool}: {line}");
        line
    };
    let stolen = json!({ "requestState": state, "inputResponses": {} });
    let line = attempt("ask", stolen, "refused a requestState").await;
    assert!(!line.contains(state), "{line}");
    attempt("write", json!({}), "refused a request: its caller lacks a scope").await;
    let line = attempt("hidden", json!({ "arguments": { "secret": "hunter2" } }), "there is no such tool").await;
    assert!(line.contains("hidden") && !line.contains("hunter2"), "{line}");
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }).to_string();
    let headers = [("authorization", &*bob), ("mcp-session-id", session), ("mcp-protocol-version", "2025-11-25")];
    assert_eq!(send(&service, Method::POST, &headers, list).await.status, 404);
    let text = logged.text();
    let line = text.lines().last().unwrap();
    assert!(line.contains("belongs to another caller") && line.contains("peer=192.0.2.7:4711"), "{line}");
    assert!(!text.contains(session) && !text.contains("lovelace") && !text.contains("babbage"), "{text}");

    let forged = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/list", "params": { "cursor": "aGlkZGVu" } });
    let headers = [("authorization", &*ada), ("mcp-session-id", session), ("mcp-protocol-version", "2025-11-25")];
    let refused = send(&service, Method::POST, &headers, forged.to_string()).await;
    assert_eq!(refused.body["error"]["code"], -32602, "{refused:?}");
    let text = logged.text();
    let line = text.lines().last().unwrap();
    assert!(line.contains("its cursor is unknown") && line.contains("peer=192.0.2.7:4711"), "{line}");
    assert!(!line.contains("aGlkZGVu"), "{line}");
}

#[tokio::test]
async fn unknown_ids_of_keys_do_not_become_a_storm() {
    let issuer = Issuer::start().await;
    let service = service(issuer.auth());
    let attack = |number: usize| {
        let (service, token) =
            (service.clone(), issuer.sign(json!({ "alg": "ES256", "kid": format!("k{number}") }), &issuer.claims()));
        async move { whoami_with(&service, &format!("Bearer {token}")).await.status }
    };
    let statuses = futures_util::future::join_all((0..200).map(attack)).await;
    assert!(statuses.iter().all(|status| *status == 401));
    for number in 200..250 {
        assert_eq!(attack(number).await, 401);
    }
    assert!(issuer.fetches() <= 2, "{} fetches", issuer.fetches());
    assert_eq!(whoami_with(&service, &format!("Bearer {}", issuer.token())).await.status, 200);
    assert!(issuer.fetches() <= 2, "{} fetches", issuer.fetches());
}

#[tokio::test]
async fn keys_are_fetched_once_for_a_crowd_and_again_when_they_rotate() {
    let (issuer, next) = (Issuer::start().await, Issuer::start().await);
    let service = service(issuer.auth());
    let bearer = format!("Bearer {}", issuer.token());
    let crowd = futures_util::future::join_all((0..100).map(|_| whoami_with(&service, &bearer))).await;
    assert!(crowd.iter().all(|reply| reply.status == 200));
    assert_eq!(issuer.fetches(), 1);
    let mut rotated = next.jwks();
    for key in rotated["keys"].as_array_mut().unwrap() {
        key["kid"] = format!("next-{}", key["kid"].as_str().unwrap()).into();
    }
    issuer.answer("/keys", Answer::Json(rotated));
    let rotated = next.sign(json!({ "alg": "ES256", "kid": "next-p256" }), &issuer.claims());
    assert_eq!(whoami_with(&service, &format!("Bearer {rotated}")).await.status, 200);
    assert_eq!(issuer.fetches(), 2);
    let old = issuer.token_with(json!({ "jti": "another" }));
    assert_eq!(whoami_with(&service, &format!("Bearer {old}")).await.status, 401, "the old key is gone");
}

#[tokio::test]
async fn a_token_without_an_id_of_a_key_is_for_the_only_key_that_fits() {
    let issuer = Issuer::start().await;
    let anonymous = issuer.sign(json!({ "alg": "ES256" }), &issuer.claims());
    assert_eq!(whoami_with(&service(issuer.auth()), &format!("Bearer {anonymous}")).await.status, 200);
    let mut two = issuer.jwks();
    let (mut second, keys) = (two["keys"][1].clone(), two["keys"].as_array_mut().unwrap());
    second["kid"] = "another".into();
    keys.push(second);
    issuer.answer("/keys", Answer::Json(two));
    assert_eq!(whoami_with(&service(issuer.auth()), &format!("Bearer {anonymous}")).await.status, 401);
}

#[tokio::test]
async fn an_issuer_that_lies_is_not_believed() {
    let (issuer, other) = (Issuer::start().await, Issuer::start().await);
    let metadata = "/.well-known/openid-configuration";
    let keys = format!("{}/keys", issuer.url);
    let configuration = |issuer: &str, keys: &str| Answer::Json(json!({ "issuer": issuer, "jwks_uri": keys }));
    let good = configuration(&issuer.url, &keys);
    for (what, path, answer) in [
        ("too much", "/keys", Answer::Flood(100)),
        ("too much metadata", metadata, Answer::Flood(100)),
        ("no keys", "/keys", Answer::Json(json!({ "keys": [] }))),
        (
            "only shared secrets",
            "/keys",
            Answer::Json(json!({ "keys": [{ "kty": "oct", "kid": "p256", "k": b64("x") }] })),
        ),
        ("not keys", "/keys", Answer::Json(json!("<html>"))),
        ("an error", "/keys", Answer::Status(500)),
        ("a redirect", "/keys", Answer::Redirect(format!("{}/keys", other.url))),
        ("metadata of another issuer", metadata, configuration(&other.url, &keys)),
        ("keys on a machine that is not encrypted", metadata, configuration(&issuer.url, "http://192.0.2.1/keys")),
        ("keys in a file", metadata, configuration(&issuer.url, "file:///etc/passwd")),
    ] {
        issuer.answer(metadata, good.clone());
        issuer.answer("/keys", Answer::Json(issuer.jwks()));
        issuer.answer(path, answer);
        let (logged, _guard) = Logged::here();
        let reply = whoami_with(&service(issuer.auth()), &format!("Bearer {}", issuer.token())).await;
        assert_eq!(reply.status, 503, "{what}: {reply:?}");
        assert!(logged.text().contains("cannot get the keys"), "{what}: {}", logged.text());
    }
}

#[tokio::test]
async fn an_issuer_that_hangs_stops_nobody_whose_token_is_known() {
    let issuer = Issuer::start().await;
    let service = service(issuer.auth());
    let bearer = format!("Bearer {}", issuer.token());
    assert_eq!(whoami_with(&service, &bearer).await.status, 200);
    issuer.answer("/keys", Answer::Hang);
    let unknown = issuer.sign(json!({ "alg": "ES256", "kid": "unknown" }), &issuer.claims());
    let (hanging, unknown) = (service.clone(), format!("Bearer {unknown}"));
    let hanging = tokio::spawn(async move { whoami_with(&hanging, &unknown).await });
    while issuer.fetches() < 2 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // The same token, and another one of a known key.
    assert_eq!(whoami_with(&service, &bearer).await.status, 200);
    let another = format!("Bearer {}", issuer.token_with(json!({ "jti": "2" })));
    assert_eq!(whoami_with(&service, &another).await.status, 200);
    assert!(!hanging.is_finished());
    // No request waits forever: neither for a key that may exist, nor for the first keys.
    let first = tokio::spawn({
        let (service, bearer) = (crate::auth::service(issuer.auth()), bearer.clone());
        async move { whoami_with(&service, &bearer).await }
    });
    while issuer.fetches() < 3 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    pass(Duration::from_secs(11)).await;
    assert_eq!((hanging.await.unwrap().status.as_u16(), first.await.unwrap().status.as_u16()), (401, 503));
}

#[tokio::test]
async fn an_introspection_endpoint_that_hangs_makes_nobody_wait_for_long() {
    let issuer = Issuer::start().await;
    issuer.answer("/introspect", Answer::Hang);
    let auth = Auth::introspection(format!("{}/introspect", issuer.url), AUDIENCE).authorization_server(&issuer.url);
    let service = service(auth);
    let asked = (0..200).map(|number| {
        let service = service.clone();
        tokio::spawn(async move { whoami_with(&service, &format!("Bearer opaque-{number}")).await.status })
    });
    let asked: Vec<_> = asked.collect();
    while issuer.requests().len() < 32 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // The time of those that are asked about is over, and of those that wait; a few of these may get a place just then.
    for _ in 0..2 {
        pass(Duration::from_secs(11)).await;
    }
    for status in futures_util::future::join_all(asked).await {
        assert_eq!(status.unwrap(), 503);
    }
    assert!(issuer.requests().len() <= 64, "the others did not wait for their turn: {}", issuer.requests().len());
}
