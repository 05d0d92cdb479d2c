//! A command line of `--name value` pairs: all these small programs need.

use std::net::SocketAddr;
use std::str::FromStr;

use anyhow::{Context, Result, bail};

/// The flags a program was started with.
#[derive(Debug, Default)]
pub struct Flags {
    pairs: Vec<(String, Option<String>)>,
}

impl Flags {
    /// Reads flags: `--name value`, or `--name` alone when the next word is a flag too or is missing.
    ///
    /// # Errors
    ///
    /// When a word is not a flag.
    pub fn parse(words: impl IntoIterator<Item = String>) -> Result<Self> {
        let mut words = words.into_iter().peekable();
        let mut pairs = Vec::new();
        while let Some(word) = words.next() {
            let Some(name) = word.strip_prefix("--") else {
                bail!("expected a flag, got `{word}`");
            };
            let value = words.next_if(|next| !next.starts_with("--"));
            pairs.push((name.to_owned(), value));
        }
        Ok(Self { pairs })
    }

    /// Whether the flag was given, with or without a value.
    pub fn has(&self, name: &str) -> bool {
        self.pairs.iter().any(|(given, _)| given == name)
    }

    /// The flag's value, read as `T`.
    ///
    /// # Errors
    ///
    /// When the value cannot be read as `T`.
    pub fn get<T>(&self, name: &str) -> Result<Option<T>>
    where
        T: FromStr,
        T::Err: std::error::Error + Send + Sync + 'static,
    {
        let Some((_, value)) = self.pairs.iter().find(|(given, _)| given == name) else {
            return Ok(None);
        };
        let value = value.as_deref().with_context(|| format!("--{name} needs a value"))?;
        let read = value.parse().with_context(|| format!("--{name} cannot be `{value}`"))?;
        Ok(Some(read))
    }

    /// The address given with `--http`.
    ///
    /// # Errors
    ///
    /// When there is none, or it is not an address.
    pub fn address(&self) -> Result<SocketAddr> {
        self.get("http")?.context("say where to listen: --http 127.0.0.1:PORT")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(line: &str) -> Result<Flags> {
        Flags::parse(line.split(' ').map(str::to_owned))
    }

    #[test]
    fn pairs_and_switches() {
        let flags = flags("--http 127.0.0.1:8000 --arc --tools 1000").unwrap();
        assert_eq!(flags.address().unwrap().port(), 8000);
        assert!(flags.has("arc"));
        assert_eq!(flags.get::<usize>("tools").unwrap(), Some(1000));
        assert_eq!(flags.get::<usize>("absent").unwrap(), None);
    }

    #[test]
    fn a_bad_value_names_the_flag() {
        let error = flags("--tools many").unwrap().get::<usize>("tools");
        assert_eq!(error.unwrap_err().to_string(), "--tools cannot be `many`");
    }

    #[test]
    fn a_stray_word_is_an_error() {
        assert!(flags("tools 3").is_err());
    }
}
