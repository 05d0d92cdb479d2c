/// A sentence that is put together in constant evaluation; empty if there is nothing to say.
#[derive(Debug)]
pub struct Report {
    text: [u8; Self::LONGEST],
    length: usize,
}

impl Report {
    const LONGEST: usize = 2048;

    pub(super) const fn new() -> Self {
        Self { text: [0; Self::LONGEST], length: 0 }
    }

    /// Adds a text, or what of it there is room for.
    pub(super) const fn push(&mut self, text: &str) {
        let text = text.as_bytes();
        let mut i = 0;
        while i < text.len() && self.length < Self::LONGEST {
            self.text[self.length] = text[i];
            self.length += 1;
            i += 1;
        }
    }

    /// Adds several.
    pub(super) const fn push_all(&mut self, texts: &[&str]) {
        let mut i = 0;
        while i < texts.len() {
            self.push(texts[i]);
            i += 1;
        }
    }

    /// Whether there is something to say.
    pub const fn failed(&self) -> bool {
        self.length > 0
    }

    /// The sentence.
    pub const fn as_str(&self) -> &str {
        match std::str::from_utf8(self.text.split_at(self.length).0) {
            Ok(text) => text,
            Err(_) => "the resolvers do not fit together, and the reason is too long to tell",
        }
    }
}
