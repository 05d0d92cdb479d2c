//! Which resolver a name means: the one whose function it means.
//!
//! If that function is not a resolver, nothing compiles: `compile/fail/resolvers/plain_function_that_hides_a_resolver.rs`.

use super::*;

/// Resolvers, and a plain function of a name that is a resolver's elsewhere.
mod disk {
    use rejoinder::prelude::*;

    #[resolver]
    pub(super) fn size() -> &'static str {
        "of the disk"
    }

    #[resolver]
    pub(super) fn filled<T: Default + Clone + Send + Sync, const N: usize>() -> [T; N] {
        std::array::from_fn(|_| T::default())
    }

    pub(super) fn owner() -> &'static str {
        "nobody"
    }
}

/// What a glob brings is hidden by what is declared beside it.
mod beside_a_glob {
    use super::disk::*;
    use rejoinder::prelude::*;

    #[resolver]
    pub(super) fn size(#[resolve(super::disk::size)] other: &str) -> String {
        format!("here, not {other}")
    }

    /// The function that it hides is plain.
    #[resolver]
    pub(super) fn owner() -> &'static str {
        "Ada"
    }

    #[tool]
    pub(super) fn nearer(
        #[resolve(self::size)] size: String,
        #[resolve(self::owner)] owner: &str,
        #[resolve(filled::<u8, 2>)] filled: &[u8; 2],
    ) -> String {
        format!("{size}, {owner}, {filled:?}")
    }
}

mod renamed {
    pub(super) use super::beside_a_glob::{owner, size as length};
    pub(super) use super::disk::{filled as several, size as extent};
}

/// A plain function may be called as a resolver is elsewhere.
fn length() -> usize {
    disk::owner().len()
}

#[resolver]
fn pairs<T: Default + Clone + Send + Sync>(#[resolve(renamed::several::<T, 2>)] pair: &[T; 2]) -> [T; 4] {
    std::array::from_fn(|i| pair[i % 2].clone())
}

#[tool]
fn by_another_name(
    #[resolve(renamed::extent)] extent: &str,
    #[resolve(renamed::length)] of_a_module: String,
    #[resolve(renamed::owner)] owner: &str,
    #[resolve(pairs::<bool>)] pairs: &[bool; 4],
) -> String {
    format!("{extent}, {of_a_module}, {owner}, {pairs:?}, {}", length())
}

#[tokio::test]
async fn a_name_means_the_nearest_resolver() {
    #[resolver]
    fn inner(#[resolve(renamed::length)] outer: &str) -> String {
        format!("{outer} but in the function")
    }

    #[tool]
    fn in_a_function(#[resolve(inner)] inner: String) -> String {
        inner
    }

    let tools = tools![beside_a_glob::nearer, by_another_name, in_a_function];
    let client = Client::new(Server::new("r", "1").tools(tools));
    let said = async |tool| client.call_tool(tool, json!({})).await.unwrap().text();
    assert_eq!(said("nearer").await, "here, not of the disk, Ada, [0, 0]");
    assert_eq!(
        said("by_another_name").await,
        "of the disk, here, not of the disk, Ada, [false, false, false, false], 6"
    );
    assert_eq!(said("in_a_function").await, "here, not of the disk but in the function");
}
