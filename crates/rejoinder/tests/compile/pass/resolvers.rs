//! The valid counterparts of `fail/resolvers`.

// What a strict user's crate forbids must not come out of the macros.
#![deny(warnings, missing_docs, unreachable_pub, missing_debug_implementations, unused_qualifications)]
#![forbid(unsafe_code)]

use rejoinder::prelude::*;

/// The values of other modules.
pub mod auth {
    use rejoinder::prelude::*;

    /// Who owns it.
    #[resolver]
    pub fn owner(path: &str, ctx: Context) -> String {
        format!("{path} {:?}", ctx.era())
    }

    pub(crate) mod deeper {
        use super::*;

        #[resolver(key = "user_name")]
        pub(crate) async fn r#type(#[resolve(owner)] mut owner: String) -> Maybe<Ask<crate::Name>> {
            owner.push('?');
            Ok(Ask::user(owner))
        }
    }

    /// An alias is looked through.
    pub(crate) type Maybe<T> = Result<T, CallError>;
}

/// A form.
#[derive(Elicit, Debug, Clone)]
pub struct Name {
    name: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Order {
    item: String,
}

#[resolver]
fn price(order: &Order, max: Option<u32>) -> u32 {
    max.unwrap_or(order.item.len() as u32)
}

#[resolver]
fn words(r#for: &[String]) -> Option<usize> {
    Some(r#for.len())
}

/// A module that is called like a resolver of another one.
mod owner {
    use rejoinder::prelude::*;

    pub(crate) type Length = usize;

    #[resolver]
    pub(crate) fn owner(#[resolve(crate::auth::owner)] owner: &str) -> usize {
        owner.len()
    }
}

#[tool]
fn owned(path: String, #[resolve(auth::owner)] owner: &str, #[resolve(owner::owner)] length: owner::Length) -> String {
    format!("{path} {owner} {length}")
}

/// A value that cannot be cloned.
#[derive(Debug)]
struct Big;

#[resolver]
fn big() -> Result<Big, CallError> {
    Ok(Big)
}

#[resolver]
fn nothing() {}

#[resolver]
fn text() -> &'static str {
    "text"
}

/// What changes can be shared behind a lock.
#[resolver]
async fn shared() -> std::sync::Mutex<usize> {
    std::sync::Mutex::default()
}

/// It need not say `Send` and `Sync`: it is a resolver for what is.
#[resolver]
fn loaded<T: Default>() -> Result<Vec<T>, CallError> {
    Ok(vec![T::default()])
}

#[tool]
async fn borrow(
    #[resolve(shared)] shared: &std::sync::Mutex<usize>,
    #[resolve(loaded::<std::sync::atomic::AtomicU8>)] loaded: &[std::sync::atomic::AtomicU8],
    #[resolve(big)] big: Option<&Big>,
    #[resolve(big)] seen: Outcome<&Big>,
    #[resolve(spoken)] spoken: &str,
) -> String {
    format!("{shared:?} {loaded:?} {big:?} {seen:?} {spoken}")
}

#[resolver]
fn spoken(#[resolve(text)] text: &str) -> String {
    text.to_owned()
}

macro_rules! doubled {
    ($name:ident, $of:ident, $type:ty) => {
        #[resolver]
        fn $name(#[resolve($of)] of: $type, factor: &$type) -> $type {
            of * factor
        }
    };
}

doubled!(twice, thrice, u32);
doubled!(thrice, whole, u32);

#[resolver]
fn whole() -> u32 {
    1
}

#[tool]
fn all(factor: u32, #[resolve(twice)] twice: u32) -> u32 {
    factor * twice
}

#[resolver(cache = false)]
#[cfg(any(unix, windows, not(unix)))]
#[deprecated]
fn old() -> u8 {
    0
}

#[tool]
async fn buy(
    path: String,
    order: Order,
    max: Option<u32>,
    r#for: Vec<String>,
    #[resolve(price)] mut price: u32,
    #[resolve(words)] words: Option<usize>,
    #[resolve(words)] more_words: Option<Option<usize>>,
    #[resolve(big)] big: &Big,
    #[resolve(nothing)] nothing: (),
    #[resolve(text)] text: &'static str,
    #[resolve(auth::deeper::r#type)] who: Outcome<Name>,
    #[resolve(old)] old: u8,
) -> String {
    let () = nothing;
    price += u32::from(old);
    format!("{path} {} {max:?} {:?} {price} {words:?} {more_words:?} {big:?} {text} {who:?}", order.item, r#for)
}

trait Entity: Clone + Send + Sync {
    fn named(name: &str) -> Self;
}

impl Entity for String {
    fn named(name: &str) -> Self {
        name.to_owned()
    }
}

#[resolver]
fn entity<T>(path: &str, ctx: Context) -> Result<T, CallError>
where
    T: Entity,
{
    Ok(T::named(&format!("{path} {:?}", ctx.era())))
}

#[resolver]
async fn several<T: Entity, const N: usize>(#[resolve(entity::<T>)] one: &T) -> [T; N] {
    std::array::from_fn(|_| one.clone())
}

#[resolver]
fn maybe<T: Entity + rejoinder::call::Argument>(#[arg] path: T) -> Ask<Option<T>> {
    Ask::known(Some(path))
}

mod named_like_others {
    use rejoinder::prelude::*;

    /// Called like a crate that the program depends on.
    #[resolver]
    fn serde() -> u8 {
        3
    }

    /// Called like a type of the language.
    #[resolver]
    fn f16() -> u8 {
        3
    }

    /// Called like a function that every module has.
    #[resolver]
    fn size_of() -> u8 {
        3
    }

    /// Called like an attribute of the language.
    #[resolver]
    fn allow() -> u8 {
        3
    }

    #[resolver]
    fn doc(#[resolve(allow)] allow: u8) -> u8 {
        allow
    }

    #[resolver]
    fn automatically_derived(#[resolve(doc)] doc: u8, #[resolve(self::allow)] allow: u8) -> u8 {
        doc + allow
    }

    #[resolver]
    fn inline(#[resolve(automatically_derived)] derived: u8) -> u8 {
        derived
    }

    #[resolver]
    fn vec(#[resolve(inline)] inline: u8) -> u8 {
        inline
    }

    #[tool]
    pub(crate) fn sum(
        #[resolve(self::serde)] serde: u8,
        #[resolve(self::f16)] f16: u8,
        #[resolve(self::size_of)] size: u8,
        #[resolve(vec)] vec: u8,
    ) -> u8 {
        serde + f16 + size + vec
    }
}

/// Each of the resolvers of one name is taken where its path leads.
mod disk {
    use rejoinder::prelude::*;

    #[resolver]
    pub(crate) fn size() -> &'static str {
        "9"
    }

    pub(crate) mod files {
        use rejoinder::prelude::*;

        #[resolver]
        pub(crate) fn size() -> char {
            '9'
        }

        #[tool]
        pub(crate) fn sizes(
            #[resolve(size)] here: char,
            #[resolve(super::size)] above: &'static str,
            #[resolve(crate::size)] of_the_crate: usize,
        ) -> String {
            format!("{here} {above} {of_the_crate}")
        }
    }
}

#[resolver]
fn size() -> usize {
    9
}

#[tool]
fn sizes(
    #[resolve(size)] here: usize,
    #[resolve(disk::size)] of_a_disk: &'static str,
    #[resolve(disk::files::size)] of_files: char,
) -> String {
    format!("{here} {of_a_disk} {of_files}")
}

trait Keyed: Entity {
    type Key: Entity;
}

impl Keyed for String {
    type Key = Self;
}

#[resolver]
fn key<T: Keyed>(#[resolve(entity::<T::Key>)] key: &T::Key) -> T::Key {
    key.clone()
}

/// What is called otherwise here is taken by the name that it has there.
#[resolver]
fn length(#[arg(name = "path")] text: &str) -> usize {
    text.len()
}

#[resolver]
fn extension(file: &std::path::Path) -> Option<String> {
    file.extension().map(|extension| extension.to_string_lossy().into_owned())
}

#[tool]
async fn kept(
    path: String,
    file: std::path::PathBuf,
    #[resolve(key::<String>)] key: String,
    #[resolve(extension)] extension: Option<String>,
    #[resolve(length)] length: usize,
) -> String {
    format!("{path} {file:?} {key} {extension:?} {length}")
}

/// Rounds by hand, and resolvers that ask nothing.
#[tool]
async fn many(
    path: String,
    rounds: Rounds,
    scope: Scope,
    #[resolve(several::<String, 3>)] several: &[String; 3],
    #[resolve(rejoinder_neighbour::language)] language: &String,
) -> Result<Reply<String>, CallError> {
    scope.defer(|ending| async move { assert!(ending.is_success()) });
    Ok(match rounds.answer::<Name>("name") {
        None => Reply::ask("name", Ask::<Name>::user("Who?")).and("sure", Ask::confirm("Sure?")).with_state(1),
        Some(_) if path.is_empty() => Reply::resume(2),
        Some(name) => Reply::done(format!("{several:?} {language} {name:?}")),
    })
}

#[tool]
async fn sure(
    path: String,
    #[resolve(rejoinder_neighbour::sure)] sure: bool,
    #[resolve(maybe::<String>)] same: &Option<String>,
) -> String {
    format!("{path} {sure} {same:?}")
}

#[resource("files://{path}")]
fn file(path: String, #[resolve(auth::owner)] owner: &String) -> String {
    path + owner
}

fn main() {
    /// What is declared in a function is known there.
    #[resolver]
    fn here() -> u8 {
        3
    }

    #[tool]
    fn local(#[resolve(here)] here: u8) -> u8 {
        here
    }

    let _ = (tools![all, borrow, buy, disk::files::sizes, kept, many, named_like_others::sum, owned, sizes, sure, local], resources![file]);
    assert_eq!(price(&Order { item: "tea".into() }, None), 3);
}
