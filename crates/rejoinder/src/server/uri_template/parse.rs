use super::{Part, Reach, UriTemplate};

impl UriTemplate {
    /// Reads a template; the error says what is wrong with it, and what to write instead.
    ///
    /// `#[resource]` reads it by the same rules when it compiles: `template.rs` of the macros.
    pub(crate) fn parse(template: &str) -> Result<Self, String> {
        let mut parsed = Self { parts: Vec::new(), query: Vec::new() };
        let mut rest = template;
        while let Some(open) = rest.find(['{', '}']) {
            if rest[open..].starts_with('}') {
                return Err("a `}` has no `{` before it: add one, or write `%7D` for the sign itself".to_owned());
            }
            let close = rest[open + 1..].find(['{', '}']).map(|length| open + 1 + length);
            let close = close
                .filter(|close| rest[*close..].starts_with('}'))
                .ok_or("a `{` has no `}` after it: add one, or write `%7B` for the sign itself")?;
            parsed.literal(&rest[..open])?;
            parsed.expression(&rest[open + 1..close])?;
            rest = &rest[close + 1..];
        }
        parsed.literal(rest)?;
        Ok(parsed)
    }

    fn literal(&mut self, text: &str) -> Result<(), String> {
        if text.is_empty() {
            return Ok(());
        }
        self.before_the_query(text)?;
        self.parts.push(Part::Literal(text.to_owned()));
        Ok(())
    }

    fn expression(&mut self, expression: &str) -> Result<(), String> {
        let (operator, names) = match expression.chars().next() {
            Some(operator @ ('+' | '#' | '.' | '/' | ';' | '?' | '&')) => (Some(operator), &expression[1..]),
            _ => (None, expression),
        };
        match operator {
            Some(';') => return Err(format!("`{{{expression}}}` is not supported: write `{{?{names}}}`")),
            Some('?') if self.has_query() => {
                return Err(format!("a query has begun before `{{{expression}}}`: write `{{&{names}}}`"));
            }
            Some('&') if !self.has_query() => {
                return Err(format!("no query has begun before `{{{expression}}}`: write `{{?{names}}}`"));
            }
            Some('?' | '&') => {}
            _ => self.before_the_query(&format!("{{{expression}}}"))?,
        }
        for (at, name) in names.split(',').enumerate() {
            let (name, exploded) = name.strip_suffix('*').map_or((name, false), |name| (name, true));
            self.check_name(name, expression)?;
            if let Some('?' | '&') = operator {
                if self.has_fixed_pair(name) {
                    return Err(format!(
                        "the query has a value for `{name}` before `{{{expression}}}`: remove one of them"
                    ));
                }
                self.query.push(name.to_owned());
                continue;
            }
            match (operator, at) {
                (Some(mark @ '#'), 0) | (Some(mark @ ('/' | '.')), _) => {
                    self.parts.push(Part::Literal(mark.to_string()));
                }
                (_, 0) => {}
                _ => self.parts.push(Part::Literal(",".to_owned())),
            }
            if matches!(self.parts.last(), Some(Part::Variable { .. })) {
                return Err(format!(
                    "nothing separates `{name}` from the variable before it: put a sign between them, such as `/`"
                ));
            }
            let reach = match operator {
                Some('+' | '#') => Reach::Anything,
                _ if exploded => Reach::Segments,
                _ => Reach::Segment,
            };
            self.parts.push(Part::Variable { name: name.to_owned(), reach });
        }
        Ok(())
    }

    fn check_name(&self, name: &str, expression: &str) -> Result<(), String> {
        if let Some((name, length)) = name.split_once(':') {
            return Err(format!(
                "`{{{expression}}}` cuts a value off, and a URI does not tell the rest: leave out `:{length}` after `{name}`"
            ));
        }
        if name.is_empty() {
            return Err(format!("a variable has no name in `{{{expression}}}`: write one, such as `{{id}}`"));
        }
        if !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.') {
            return Err(format!("a variable cannot be called `{name}`: use letters from a to z, digits and `_`"));
        }
        if self.variables().any(|known| known == name) {
            return Err(format!("the variable `{name}` is there twice: give one of them another name"));
        }
        Ok(())
    }

    /// Whether a query begins somewhere in what has been read.
    fn has_query(&self) -> bool {
        !self.query.is_empty() || self.has_fixed_query()
    }

    /// Whether a pair of that name is written out in the query, as in `?kind=a`.
    fn has_fixed_pair(&self, name: &str) -> bool {
        self.parts.iter().any(|part| match part {
            Part::Literal(text) => {
                text.split(['?', '&']).skip(1).any(|pair| pair.split_once('=').is_some_and(|(key, _)| key == name))
            }
            Part::Variable { .. } => false,
        })
    }

    fn before_the_query(&self, piece: &str) -> Result<(), String> {
        if self.query.is_empty() {
            return Ok(());
        }
        Err(format!("`{piece}` comes after a `{{?..}}` or `{{&..}}`: these go to the end"))
    }
}
