use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// What ran, and in which words the resolvers ask.
pub struct Script(Mutex<Lines>);

struct Lines {
    ran: Vec<&'static str>,
    words: BTreeMap<&'static str, String>,
    turns: u32,
}

/// Who asks the same whatever the call, and how.
const WORDS: [(&str, &str); 10] = [
    ("who", "Who?"),
    ("sure", "Sure?"),
    ("third", "Third?"),
    ("deploy", "Deploy to prod?"),
    ("form", "Fill"),
    ("sample", "hi"),
    ("sample_tools", "hi"),
    ("after_sample", "Keep it?"),
    ("askA", "A?"),
    ("askB", "B?"),
];

impl Script {
    /// Notes that this resolver, or the body, runs.
    pub fn ran(&self, name: &'static str) {
        self.lines().ran.push(name);
    }

    /// Notes that this resolver runs, and gives it its words.
    pub fn asks(&self, name: &'static str) -> String {
        self.ran(name);
        self.lines().words[name].clone()
    }

    /// Notes that this resolver runs, and gives it words that nobody heard before.
    pub fn asks_anew(&self, name: &'static str) -> String {
        self.ran(name);
        let mut lines = self.lines();
        lines.turns += 1;
        format!("q{}", lines.turns)
    }

    /// What ran since this was last called.
    pub fn take_ran(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.lines().ran)
    }

    /// Changes the words of a resolver.
    ///
    /// # Errors
    ///
    /// Whose words can be changed, if this one's cannot.
    pub fn reword(&self, resolver: &str, text: String) -> Result<(), String> {
        let mut lines = self.lines();
        match lines.words.get_mut(resolver) {
            Some(words) => *words = text,
            None => return Err(lines.words.keys().copied().collect::<Vec<_>>().join(", ")),
        }
        Ok(())
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        // Every statement leaves them valid.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Script {
    fn default() -> Self {
        let words = WORDS.map(|(name, words)| (name, words.to_owned())).into();
        Self(Mutex::new(Lines { ran: Vec::new(), words, turns: 0 }))
    }
}
