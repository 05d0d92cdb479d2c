//! States that may be redeemed once only.

use futures_util::future::BoxFuture;

use super::{
    super::replay_store::{MemoryReplayStore, ReplayStore},
    *,
};
use crate::{auth::Principal, error::BoxError};

fn once(store: impl ReplayStore + 'static) -> Seal {
    Seal::new("shop", &StatePolicy { spent: Some(Arc::new(store)), ..options(&[ONE]) }).unwrap()
}

/// Opens the state of a call and spends it.
async fn redeem(seal: &Seal, binding: &Binding, token: &str) -> Result<Opened, StateRefusal> {
    let opened = seal.open(binding, token)?;
    seal.spend("tools/call", &opened, binding.principal.as_ref()).await?;
    Ok(opened)
}

#[tokio::test]
async fn c29_a_state_is_redeemed_once() {
    let seal = once(MemoryReplayStore::default());
    let (token, other) = (seal.seal(&call(), b"1").unwrap(), seal.seal(&call(), b"1").unwrap());
    assert_eq!(redeem(&seal, &call(), &token).await.unwrap().state, b"1");
    assert_eq!(refusal(redeem(&seal, &call(), &token).await), StateRefusal::Spent);
    assert!(redeem(&seal, &call(), &other).await.is_ok());
}

#[tokio::test]
async fn without_a_store_a_state_is_redeemed_until_it_expires() {
    let seal = with_keys(&[ONE]);
    let token = seal.seal(&call(), b"").unwrap();
    assert!(redeem(&seal, &call(), &token).await.is_ok());
    assert!(redeem(&seal, &call(), &token).await.is_ok());
}

#[tokio::test]
async fn a_state_for_another_call_is_not_spent_by_it() {
    let seal = once(MemoryReplayStore::default());
    let token = seal.seal(&call(), b"").unwrap();
    assert_eq!(refusal(redeem(&seal, &Binding::new("tools/call", "sell", None), &token).await), StateRefusal::Request);
    assert!(redeem(&seal, &call(), &token).await.is_ok());
}

#[tokio::test]
async fn a_store_that_fails_redeems_nothing() {
    struct Down;
    impl ReplayStore for Down {
        fn spend(&self, _: [u8; 16], _: SystemTime, _: Option<&Principal>) -> BoxFuture<'_, Result<bool, BoxError>> {
            Box::pin(async { Err("the database is down".into()) })
        }
    }
    let seal = once(Down);
    let token = seal.seal(&call(), b"").unwrap();
    let refused = redeem(&seal, &call(), &token).await.unwrap_err();
    assert_eq!(refused, StateRefusal::Store);
    assert!(!refused.to_string().contains("database"));
}

#[tokio::test]
async fn a_clock_that_is_set_forward_and_back_makes_no_state_usable_again() {
    let hands = Hands::new();
    let store = MemoryReplayStore::default().with_clock(hands.clock());
    let until = hands.now() + Duration::from_mins(10);
    assert!(store.spend([1; 16], until, None).await.unwrap());
    hands.forward(Duration::from_hours(1));
    assert!(store.spend([2; 16], hands.now() + Duration::from_mins(10), None).await.unwrap());
    hands.back(Duration::from_hours(1));
    assert!(!store.spend([1; 16], until, None).await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn what_is_expired_is_forgotten_and_what_is_not_never_is() {
    let hands = Hands::new();
    let store = MemoryReplayStore::at_most(2).with_clock(hands.clock());
    let in_minutes = |minutes| hands.now() + Duration::from_mins(minutes);
    assert!(store.spend([1; 16], in_minutes(1), None).await.unwrap());
    assert!(store.spend([2; 16], in_minutes(3), None).await.unwrap());
    let full = store.spend([3; 16], in_minutes(3), None).await.unwrap_err();
    assert_eq!(full.to_string(), "the replay store is full: it remembers 2 states that have not expired");
    assert!(!store.spend([2; 16], in_minutes(3), None).await.unwrap(), "full or not, it says what it knows");

    hands.forward(Duration::from_mins(1));
    tokio::time::advance(Duration::from_mins(1)).await;
    assert!(store.spend([3; 16], in_minutes(3), None).await.unwrap());
    assert_eq!(store.len(), 2);
    assert!(!store.spend([1; 16], hands.now(), None).await.unwrap(), "expired, whether remembered or not");
    hands.forward(Duration::from_mins(3));
    tokio::time::advance(Duration::from_mins(3)).await;
    assert!(store.spend([4; 16], in_minutes(1), None).await.unwrap());
    assert_eq!(store.len(), 1);
}

#[tokio::test]
async fn a_store_remembers_for_longer_than_any_clock_opens() {
    struct Until(Mutex<Option<SystemTime>>);
    impl ReplayStore for Arc<Until> {
        fn spend(
            &self,
            _: [u8; 16],
            until: SystemTime,
            _: Option<&Principal>,
        ) -> BoxFuture<'_, Result<bool, BoxError>> {
            *self.0.lock().unwrap() = Some(until);
            Box::pin(async { Ok(true) })
        }
    }
    let until = Arc::new(Until(Mutex::default()));
    let seal = once(Arc::clone(&until));
    let opened = redeem(&seal, &call(), &seal.seal(&call(), b"").unwrap()).await.unwrap();
    assert_eq!(until.0.lock().unwrap().unwrap(), opened.expires + Duration::from_mins(1));
}

#[test]
fn of_many_at_once_one_redeems() {
    let store = MemoryReplayStore::default();
    let until = SystemTime::now() + Duration::from_mins(1);
    let redeemed = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| futures_util::FutureExt::now_or_never(store.spend([1; 16], until, None))))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap().unwrap().unwrap()).filter(|it| *it).count()
    });
    assert_eq!(redeemed, 1);
}
