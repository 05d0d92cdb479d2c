//! A rate limiter that all calls share: each caller may call ten tools in a minute.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use rejoinder::{
    auth::Principal,
    middleware::{Next, OperationRequest, OperationResult},
    prelude::*,
};

/// When the minute of each caller began, and how many calls it has made since then.
#[derive(Default)]
struct Limiter(Mutex<HashMap<String, (Instant, u32)>>);

impl Limiter {
    const CALLS: u32 = 10;
    const WINDOW: Duration = Duration::from_secs(60);

    fn allows(&self, caller: &str) -> bool {
        let mut callers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        callers.retain(|_, (began, _)| began.elapsed() < Self::WINDOW);
        let (_, calls) = callers.entry(caller.to_owned()).or_insert_with(|| (Instant::now(), 0));
        *calls += 1;
        *calls <= Self::CALLS
    }
}

/// Refuses a call before its tool is looked up. A retry with the answer to a question counts as a call, too.
async fn limit(limiter: Arc<Limiter>, request: OperationRequest, next: Next) -> Result<OperationResult, CallError> {
    if request.method() == "tools/call" && !limiter.allows(request.principal().map_or("anonymous", Principal::subject))
    {
        return Err(CallError::new("too many calls: wait a minute, then try again"));
    }
    Ok(next.run(request).await)
}

/// Add two numbers.
#[tool(read_only)]
async fn add(a: i64, b: i64) -> i64 {
    a.saturating_add(b)
}

#[tokio::main]
async fn main() -> rejoinder::Result<()> {
    let limiter = Arc::new(Limiter::default());
    Server::new("rate_limit", "1.0.0")
        .tools(tools![add])
        // Replace this with what your authentication found out: anybody can send any header.
        .principal(|request| Some(Principal::new(request.headers()?.get("x-user")?.to_str().ok()?)))
        .middleware(move |request, next| limit(Arc::clone(&limiter), request, next))
        .serve_from_args()
        .await
}
