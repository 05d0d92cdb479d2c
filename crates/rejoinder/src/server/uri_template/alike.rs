use super::{Part, Reach, UriTemplate};

impl UriTemplate {
    /// The variables that stand in the same places, if the two differ in nothing but the names of them.
    ///
    /// The names in a query stay: they are a part of the URI, in whatever order.
    pub(crate) fn alike<'a>(&'a self, other: &'a Self) -> Option<Vec<(&'a str, &'a str)>> {
        let in_query = |name: &String| other.query.contains(name);
        let sizes = |template: &Self| (template.in_path().count(), template.query.len());
        if sizes(self) != sizes(other)
            || !self.query.iter().all(in_query)
            || self.without_names() != other.without_names()
        {
            return None;
        }
        let same = self.query.iter().map(|name| (name.as_str(), name.as_str()));
        Some(self.in_path().zip(other.in_path()).chain(same).collect())
    }

    /// What is written out, and how far each variable between reaches: `x/{y}` and `x{/y}` are one.
    fn without_names(&self) -> (Vec<String>, Vec<Reach>) {
        let (mut texts, mut reaches, mut text) = (Vec::new(), Vec::new(), String::new());
        for part in &self.parts {
            match part {
                Part::Literal(more) => text.push_str(more),
                Part::Variable { reach, .. } => {
                    reaches.push(*reach);
                    texts.push(std::mem::take(&mut text));
                }
            }
        }
        texts.push(text);
        (texts, reaches)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alike(one: &str, other: &str) -> Option<Vec<(String, String)>> {
        let [one, other] = [one, other].map(|template| UriTemplate::parse(template).expect("a good template"));
        let pairs = one.alike(&other)?;
        Some(pairs.into_iter().map(|(one, other)| (one.to_owned(), other.to_owned())).collect())
    }

    #[test]
    fn names_alone_make_no_difference() {
        let pair = |one: &str, other: &str| (one.to_owned(), other.to_owned());
        assert_eq!(alike("b://{id}", "b://{name}"), Some(vec![pair("id", "name")]));
        assert_eq!(alike("b://{a}/x{/b}", "b://{b}/x/{a}"), Some(vec![pair("a", "b"), pair("b", "a")]));
        assert_eq!(alike("b://{+id}", "b://{+name}"), Some(vec![pair("id", "name")]));
        assert_eq!(
            alike("b://{id}{?size,page}", "b://{name}{?page,size}"),
            Some(vec![pair("id", "name"), pair("size", "size"), pair("page", "page")])
        );
    }

    #[test]
    fn anything_else_does() {
        for (one, other) in [
            ("b://{id}", "c://{id}"),
            ("b://{id}", "b://{id}/raw"),
            ("b://{id}", "b://{+id}"),
            ("b://{id}", "b://{id*}"),
            ("b://{id}", "b://{id}{?page}"),
            ("b://{id}{?page}", "b://{id}{?size}"),
            ("b://{a}/{b}", "b://{a}-{b}"),
        ] {
            assert_eq!(alike(one, other), None, "{one} {other}");
        }
    }
}
