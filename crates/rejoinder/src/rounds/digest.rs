use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use rejoinder_core::ask::Question;
use sha2::{Digest, Sha256};

use super::seal::canonical;

/// What tells one question from another: every word of it, and nothing of how it is written down.
pub(super) fn digest(question: &Question) -> String {
    let mut hash = Sha256::new_with_prefix("rejoinder/question/v1\0");
    hash.update(question.method());
    hash.update(canonical(&question.params().to_string()));
    URL_SAFE_NO_PAD.encode(&hash.finalize()[..16])
}
