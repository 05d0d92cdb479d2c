//! Where keys come from, opaque tokens, API keys.

use rejoinder::auth::{Auth, Principal};
use serde_json::json;

use crate::{
    auth::{
        AUDIENCE, call,
        issuer::{Answer, Issuer, now},
        service, whoami_with,
    },
    logged::Logged,
};

#[tokio::test]
async fn keys_come_from_metadata_the_usual_place_a_url_a_file_or_the_program() {
    let issuer = Issuer::start().await;
    let bearer = format!("Bearer {}", issuer.token());
    let folder = std::env::temp_dir().join(format!("rejoinder-jwks-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("keys.json");
    std::fs::write(&file, issuer.jwks().to_string()).unwrap();
    for auth in [issuer.auth().jwks(issuer.jwks().to_string()), issuer.auth().jwks_file(&file)] {
        assert_eq!(whoami_with(&service(auth), &bearer).await.status, 200);
    }
    assert_eq!(issuer.fetches(), 0, "without a network");
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(whoami_with(&service(issuer.auth().jwks_file(&file)), &bearer).await.status, 503);

    issuer.answer("/elsewhere", Answer::Json(issuer.jwks()));
    let auth = issuer.auth().jwks_url(format!("{}/elsewhere", issuer.url));
    assert_eq!(whoami_with(&service(auth), &bearer).await.status, 200);
    // Metadata of RFC 8414, and none at all.
    let metadata = json!({ "issuer": issuer.url, "jwks_uri": format!("{}/elsewhere", issuer.url) });
    issuer.answer("/.well-known/openid-configuration", Answer::Status(404));
    issuer.answer("/.well-known/oauth-authorization-server", Answer::Json(metadata));
    assert_eq!(whoami_with(&service(issuer.auth()), &bearer).await.status, 200);
    issuer.answer("/.well-known/oauth-authorization-server", Answer::Status(404));
    issuer.answer("/.well-known/jwks.json", Answer::Json(issuer.jwks()));
    assert_eq!(whoami_with(&service(issuer.auth()), &bearer).await.status, 200);
    assert_eq!(issuer.fetches(), 0);
}

#[tokio::test]
async fn an_opaque_token_is_what_its_issuer_says() {
    let issuer = Issuer::start().await;
    let endpoint = format!("{}/introspect", issuer.url);
    let auth = || {
        Auth::introspection(&endpoint, AUDIENCE)
            .authorization_server(&issuer.url)
            .client_credentials("shop server", "s3:cr&t")
    };
    let active = json!({ "active": true, "sub": "ada", "aud": [AUDIENCE], "scope": "a b", "exp": now() + 60 });
    issuer.answer("/introspect", Answer::Json(active.clone()));
    let service = service(auth());
    for _ in 0..3 {
        let reply = whoami_with(&service, "Bearer an/opaque+token==").await;
        assert_eq!((reply.status.as_u16(), reply.text()), (200, r#"ada ["a", "b"]"#), "{reply:?}");
    }
    let requests = issuer.requests();
    assert_eq!(requests.len(), 1, "the answer counts for a while");
    // base64 of `shop%20server:s3%3Acr%26t`
    assert_eq!(requests[0].0, "Basic c2hvcCUyMHNlcnZlcjpzMyUzQWNyJTI2dA==");
    assert_eq!(requests[0].1, "token=an%2Fopaque%2Btoken%3D%3D&token_type_hint=access_token");

    issuer.answer("/introspect", Answer::Json(json!({ "active": false })));
    for _ in 0..3 {
        assert_eq!(whoami_with(&service, "Bearer revoked").await.status, 401);
    }
    assert_eq!(issuer.requests().len(), 2, "so does a refusal");

    for (what, change, status) in [
        ("revoked", json!({ "active": false }), 401),
        ("truthy", json!({ "active": "true" }), 401),
        ("for another audience", json!({ "aud": "https://other.example" }), 401),
        ("for no audience", json!({ "aud": null }), 401),
        ("expired", json!({ "exp": now() - 31 }), 401),
        ("about nobody", json!({ "sub": "" }), 401),
        ("without expiry", json!({ "jti": 1 }), 200),
    ] {
        let mut answer = active.clone();
        answer.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        issuer.answer("/introspect", Answer::Json(answer));
        let (logged, _guard) = Logged::here();
        let reply = whoami_with(&crate::auth::service(auth()), "Bearer hunter2").await;
        assert_eq!(reply.status, status, "{what}");
        assert!(!logged.text().contains("hunter2") && !logged.text().contains("s3:cr"), "{}", logged.text());
    }
    for answer in [Answer::Status(500), Answer::Flood(10), Answer::Json(json!([]))] {
        issuer.answer("/introspect", answer);
        assert_eq!(whoami_with(&crate::auth::service(auth()), "Bearer hunter2").await.status, 503);
    }
    let (logged, _guard) = Logged::here();
    let service = super::service(auth());
    for token in 0..3 {
        assert_eq!(whoami_with(&service, &format!("Bearer {token}")).await.status, 503);
    }
    assert_eq!(logged.text().matches("cannot introspect a token").count(), 1, "a client cannot fill the log");
}

#[tokio::test]
async fn a_key_is_a_caller() {
    let digest = "ce68077800fdba4d0966d1dbefa39c4bc3ec34a9423246a4e97909fab4398ee3"; // of the key below
    let auth = || {
        Auth::api_key("x-api-key")
            .key("ada's very long key", Principal::new("ada").with_scopes(["a"]))
            .hashed_key(digest, Principal::new("bob"))
            .required_scopes(["a"])
    };
    let service = service(auth());
    let with = async |key: &str| call(&service, "whoami", &[("x-api-key", key)], json!({})).await;
    assert_eq!(with("ada's very long key").await.text(), r#"ada ["a"]"#);
    assert_eq!(with("bob's very long key").await.status, 403, "bob lacks the scope");
    let (logged, _guard) = Logged::here();
    for key in ["", "ada's very long ke", "ada's very long key ", "ADA'S VERY LONG KEY", digest] {
        // HTTP drops white space at the end of a value before anybody sees it, but not here.
        let reply = with(key).await;
        assert_eq!((reply.status.as_u16(), reply.challenge()), (401, r#"ApiKey realm="mcp""#), "{key}");
    }
    assert!(
        logged.text().contains("the key is not known") && !logged.text().contains("very long"),
        "{}",
        logged.text()
    );
    let without = call(&service, "whoami", &[], json!({})).await;
    assert_eq!(without.status, 401);
    assert!(format!("{without:?}").contains("send your key in the header `x-api-key`"), "{without:?}");
    assert_eq!(
        call(&service, "whoami", &[("authorization", "Bearer ada's very long key")], json!({})).await.status,
        401
    );

    let bearer = crate::auth::service(Auth::api_key("authorization").key("0123456789abcdef", Principal::new("ci")));
    assert_eq!(whoami_with(&bearer, "Bearer 0123456789abcdef").await.text(), "ci []");
    assert_eq!(whoami_with(&bearer, "0123456789abcdef").await.status, 400);
    assert!(!format!("{:?}", auth()).contains("very long"));
}
