use syn::LitStr;

use crate::{errors::Errors, names};

/// How the names of variants are written in the answer. The cases of serde, made as serde makes them.
#[derive(Clone, Copy)]
pub(super) enum Case {
    /// As they are.
    Pascal,
    Lower,
    Upper,
    Camel,
    /// Words with this between them, in upper case or not.
    Words(char, bool),
}

const CASES: [(&str, Case); 8] = [
    ("lowercase", Case::Lower),
    ("UPPERCASE", Case::Upper),
    ("PascalCase", Case::Pascal),
    ("camelCase", Case::Camel),
    ("snake_case", Case::Words('_', false)),
    ("SCREAMING_SNAKE_CASE", Case::Words('_', true)),
    ("kebab-case", Case::Words('-', false)),
    ("SCREAMING-KEBAB-CASE", Case::Words('-', true)),
];

impl Case {
    pub(super) fn parse(name: &LitStr, errors: &mut Errors) -> Self {
        let written = name.value();
        match CASES.iter().find(|(known, _)| *known == written) {
            Some((_, case)) => *case,
            None => {
                let known = CASES.map(|(known, _)| known);
                let meant = names::similar(&written, &known).map(|meant| format!("did you mean `{meant}`? "));
                let (meant, known) = (meant.unwrap_or_default(), known.join("`, `"));
                errors.at(name, format!("there is no case `{written}`; {meant}there are `{known}`"));
                Self::Pascal
            }
        }
    }

    /// Writes the name of a variant.
    pub(super) fn apply(self, name: &str) -> String {
        match self {
            Self::Pascal => name.to_owned(),
            Self::Lower => name.to_lowercase(),
            Self::Upper => name.to_uppercase(),
            Self::Camel => {
                let mut rest = name.chars();
                rest.next().map(|first| first.to_lowercase().chain(rest).collect()).unwrap_or_default()
            }
            Self::Words(between, upper) => {
                let mut words = String::new();
                for (index, c) in name.char_indices() {
                    if index > 0 && c.is_uppercase() {
                        words.push(between);
                    }
                    words.push(c);
                }
                if upper { words.to_uppercase() } else { words.to_lowercase() }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cased_as_serde_does() {
        let cased = CASES.map(|(_, case)| case.apply("VeryTasty2"));
        let expected = [
            "verytasty2",
            "VERYTASTY2",
            "VeryTasty2",
            "veryTasty2",
            "very_tasty2",
            "VERY_TASTY2",
            "very-tasty2",
            "VERY-TASTY2",
        ];
        assert_eq!(cased, expected);
    }
}
