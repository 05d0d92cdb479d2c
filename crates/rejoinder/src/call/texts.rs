/// Arguments that came as plain texts: a prompt's, or the variables of a URI template.
#[derive(Debug, Default, Clone)]
pub struct Texts<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Texts<'a> {
    /// The text of that name.
    pub fn get(&self, name: &str) -> Option<&'a str> {
        self.0.iter().find(|(key, _)| *key == name).map(|(_, text)| *text)
    }

    /// Every name that came.
    pub fn names(&self) -> impl Iterator<Item = &'a str> {
        self.0.iter().map(|(name, _)| *name)
    }

    /// Those whose name is wanted.
    pub(crate) fn only(&self, wanted: impl Fn(&str) -> bool) -> Self {
        self.0.iter().copied().filter(|(name, _)| wanted(name)).collect()
    }
}

impl<'a> FromIterator<(&'a str, &'a str)> for Texts<'a> {
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a str)>>(texts: I) -> Self {
        Self(texts.into_iter().collect())
    }
}
