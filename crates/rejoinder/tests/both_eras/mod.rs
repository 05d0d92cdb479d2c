//! The same test for clients of both eras.

use rejoinder::{Era, testing::Client};

pub(crate) async fn in_both_eras(client: Client, test: impl AsyncFn(Client)) {
    test(client.clone()).await;
    test(client.era(Era::Session)).await;
}
