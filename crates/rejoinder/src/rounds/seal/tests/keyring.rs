//! Which keys seal, which open, and which are refused.

use super::*;

const THREE: [u8; 32] = *b"a third key, which has 32 bytes.";

#[test]
fn s6_a_foreign_key_is_unknown() {
    let token = with_keys(&[ONE]).seal(&call(), b"").unwrap();
    assert_eq!(refusal(with_keys(&[TWO]).open(&call(), &token)), StateRefusal::UnknownKey);
}

#[test]
fn s7_s8_s9_the_first_key_seals_and_all_open() {
    let [old, both, turned, new] = [&[ONE][..], &[ONE, TWO], &[TWO, ONE], &[TWO]].map(with_keys);
    let by_old = old.seal(&call(), b"").unwrap();
    assert!(both.open(&call(), &by_old).is_ok());
    assert!(turned.open(&call(), &by_old).is_ok());
    assert_eq!(refusal(new.open(&call(), &by_old)), StateRefusal::UnknownKey);

    let by_both = both.seal(&call(), b"").unwrap();
    assert!(old.open(&call(), &by_both).is_ok());
    assert!(new.open(&call(), &by_both).is_err());
    let by_turned = turned.seal(&call(), b"").unwrap();
    assert!(new.open(&call(), &by_turned).is_ok());
    assert!(both.open(&call(), &by_turned).is_ok());
    assert!(old.open(&call(), &by_turned).is_err());
}

#[test]
fn s10_a_l16_a_list_that_is_not_a_key_ring_is_refused() {
    fn refused<K: AsRef<[u8]>>(keys: impl IntoIterator<Item = K>) -> String {
        StateKeys::new(keys).unwrap_err().to_string()
    }
    assert!(refused([] as [&str; 0]).starts_with("no key was given"));
    assert!(refused([&ONE[..], &[9; 31]]).starts_with("key 2 has 31 bytes"));
    assert_eq!(refused([ONE, TWO, ONE]), "key 3 is the same as key 1");
    assert!(StateKeys::new([&ONE[..], &[&ONE[..], &[0]].concat()]).is_ok(), "a zero at the end makes another key");
    for weak in [[0; 32].to_vec(), b"changeme".repeat(4), b"0123456".repeat(10), [[0; 25], [255; 25]].concat()] {
        let refused = refused([&ONE[..], &weak]);
        assert!(refused.starts_with("key 2 has fewer than 8 different bytes"), "{weak:?}: {refused}");
    }
    assert!(StateKeys::new(["01234567".repeat(4)]).is_ok());
}

#[test]
fn s11_s12_text_is_its_bytes() {
    let secret = "thirty-two bytes, some of them é.";
    let text = Seal::new("shop", &StatePolicy { keys: StateKeys::new([secret]).ok(), ..Default::default() }).unwrap();
    let bytes = StateKeys::new([secret.as_bytes().to_vec()]).ok();
    let bytes = Seal::new("shop", &StatePolicy { keys: bytes, ..Default::default() }).unwrap();
    assert!(bytes.open(&call(), &text.seal(&call(), b"").unwrap()).is_ok());
}

#[test]
fn s13_keys_are_copied() {
    let mut secret = ONE.to_vec();
    let options = StatePolicy { keys: StateKeys::new([&secret]).ok(), ..Default::default() };
    let token = with_keys(&[ONE]).seal(&call(), b"").unwrap();
    secret.fill(0);
    assert!(Seal::new("shop", &options).unwrap().open(&call(), &token).is_ok());
}

#[test]
fn s18_the_id_of_another_key_breaks_the_seal() {
    let ring = with_keys(&[ONE, TWO]);
    let mut by_one = bytes(&with_keys(&[ONE]).seal(&call(), b"").unwrap());
    let by_two = bytes(&with_keys(&[TWO]).seal(&call(), b"").unwrap());
    by_one[..4].copy_from_slice(&by_two[..4]);
    assert_eq!(refusal(ring.open(&call(), &text(&by_one))), StateRefusal::Broken);
}

#[test]
fn s23_b18_each_server_without_keys_has_its_own() {
    let [one, other] = [(); 2].map(|()| Seal::new("shop", &StatePolicy::default()).unwrap());
    let token = one.seal(&call(), b"").unwrap();
    assert!(one.open(&call(), &token).is_ok());
    assert!(other.open(&call(), &token).is_err());
}

#[test]
fn keys_come_from_text() {
    let (standard, url_safe) =
        ["+/", "-_"].map(|two| format!("{two}abcdefghijklmnopqrstuvwxyz0123456789ABCDEF")).into();
    let seal = |text: &str| {
        let options = StatePolicy { keys: Some(StateKeys::from_text(text).unwrap()), ..Default::default() };
        Seal::new("shop", &options).unwrap()
    };
    let token = seal(&standard).seal(&call(), b"").unwrap();
    let another = URL_SAFE_NO_PAD.encode(THREE);
    assert!(seal(&format!(" {another}= ,\n{url_safe}")).open(&call(), &token).is_ok());
    for (bad, why) in [
        (String::new(), "no key was given"),
        (" ".to_owned(), "no key was given"),
        (format!("{standard},"), "key 2 has 0 bytes"),
        ("c2hvcnQ".to_owned(), "key 1 has 5 bytes"),
        (format!("{another},hunter2!{another}"), "key 2 is not base64"),
        (format!("{another},+-{another}"), "key 2 is not base64"),
        (format!("{standard},{url_safe}"), "key 2 is the same as key 1"),
    ] {
        let error = StateKeys::from_text(&bad).unwrap_err();
        assert!(error.to_string().starts_with(&format!("REJOINDER_STATE_KEYS: {why}")), "{error}");
        assert!(!format!("{error} {error:?}").contains("hunter2"));
    }
}

/// A process has one environment, and its tests share it: so each value is tried in a process of its own.
#[test]
fn keys_come_from_the_environment() {
    const EXPECT: &str = "REJOINDER_TEST_EXPECTS";
    if let Ok(expected) = std::env::var(EXPECT) {
        let found = StateKeys::from_env().map_or_else(|error| error.to_string(), |keys| format!("{keys:?}"));
        assert!(found.starts_with(&expected), "{found}");
        return;
    }
    let good = URL_SAFE_NO_PAD.encode(ONE);
    let (short, twice) = (URL_SAFE_NO_PAD.encode([1; 16]), format!("{good},{good}"));
    for (value, expected) in [
        (None, "REJOINDER_STATE_KEYS is not set"),
        (Some("secret?"), "REJOINDER_STATE_KEYS: key 1 is not base64: use keys from `openssl rand"),
        (Some(""), "REJOINDER_STATE_KEYS: no key was given"),
        (Some(" "), "REJOINDER_STATE_KEYS: no key was given"),
        (Some(short.as_str()), "REJOINDER_STATE_KEYS: key 1 has 16 bytes"),
        (Some(twice.as_str()), "REJOINDER_STATE_KEYS: key 2 is the same as key 1"),
        (Some(good.as_str()), "StateKeys(1)"),
    ] {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "rounds::seal::tests::keyring::keys_come_from_the_environment"]);
        child.env(EXPECT, expected).env_remove("REJOINDER_STATE_KEYS");
        child.envs(value.map(|value| ("REJOINDER_STATE_KEYS", value)));
        let output = child.output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
    }
}

/// A compile-time check.
#[test]
fn secrets_are_wiped_when_they_are_dropped() {
    fn wiped<T: zeroize::ZeroizeOnDrop>() {}
    wiped::<super::super::keys::Secret>();
    wiped::<zeroize::Zeroizing<String>>();
    wiped::<zeroize::Zeroizing<Vec<u8>>>();
}
