//! The words of the command line. A parser crate would cost more to compile than it saves to write.

use std::collections::VecDeque;

use anyhow::{Context, Result, ensure};

/// What is left of the command line.
#[derive(Debug)]
pub(crate) struct Words(VecDeque<String>);

impl Words {
    /// The words behind the program's own name.
    pub(crate) fn from_args() -> Self {
        Self(std::env::args().skip(1).collect())
    }

    /// Takes the next word.
    pub(crate) fn next_word(&mut self) -> Option<String> {
        self.0.pop_front()
    }

    /// Takes the flag `name` from wherever it stands; whether it was there.
    pub(crate) fn flag(&mut self, name: &str) -> bool {
        let at = self.0.iter().position(|word| word == name);
        at.and_then(|at| self.0.remove(at)).is_some()
    }

    /// Takes `name VALUE` from wherever it stands.
    pub(crate) fn value(&mut self, name: &str) -> Result<Option<String>> {
        let Some(at) = self.0.iter().position(|word| word == name) else {
            return Ok(None);
        };
        self.0.remove(at);
        let value = self.0.remove(at);
        value.map(Some).with_context(|| format!("{name} needs a value"))
    }

    /// Makes sure that nothing is left.
    pub(crate) fn end(&self) -> Result<()> {
        let rest: Vec<&str> = self.0.iter().map(String::as_str).collect();
        ensure!(rest.is_empty(), "not understood: {}", rest.join(" "));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Words {
        Words(line.split(' ').map(str::to_owned).collect())
    }

    #[test]
    fn flags_and_values_stand_anywhere() {
        let mut words = words("--quick --out here");
        assert_eq!(words.value("--out").unwrap().as_deref(), Some("here"));
        assert!(words.flag("--quick"));
        assert!(!words.flag("--quick"));
        words.end().unwrap();
    }

    #[test]
    fn what_is_left_is_named() {
        let error = words("--fast now").end().unwrap_err().to_string();
        assert_eq!(error, "not understood: --fast now");
    }

    #[test]
    fn a_value_may_not_be_missing() {
        assert!(words("--out").value("--out").is_err());
    }
}
