//! Forms for clients of versions before 2025-11-25.

use serde_json::{Map, Value};

use super::Form;

impl Form {
    /// The schema in the words of 2025-06-18: titles of choices as `enumNames`, a default for yes or no alone, no pattern.
    /// What is left out still holds for the answer. `None` if a field is of a type which that version does not have,
    /// such as several of a list.
    ///
    /// ```
    /// use rejoinder::{form::{Field, Form}};
    /// use serde_json::json;
    ///
    /// let size = Field::<String>::new("size").one_of([("s", "Small"), ("l", "Large")]);
    /// let older = Form::new().with(&size).to_older_value().expect("a text is as old as forms");
    /// assert_eq!(
    ///     older["properties"]["size"],
    ///     json!({ "type": "string", "enum": ["s", "l"], "enumNames": ["Small", "Large"] }),
    /// );
    /// ```
    pub fn to_older_value(&self) -> Option<Value> {
        let mut form = self.to_value();
        if let Some(properties) = form.get_mut("properties").and_then(Value::as_object_mut) {
            for (_, property) in properties {
                *property = older(property.as_object()?)?.into();
            }
        }
        Some(form)
    }
}

/// A field in the words of 2025-06-18.
fn older(property: &Map<String, Value>) -> Option<Map<String, Value>> {
    let words: &[&str] = match property.get("type")?.as_str()? {
        "string" => &["enum", "enumNames", "minLength", "maxLength", "format"],
        "number" | "integer" => &["minimum", "maximum"],
        "boolean" => &["default"],
        _ => return None,
    };
    let known = |word: &str| ["type", "title", "description"].contains(&word) || words.contains(&word);
    let mut field = Map::new();
    for (word, value) in property {
        match (word.as_str(), value.as_array()) {
            ("oneOf", Some(choices)) => {
                let each = |part: &str| -> Value { choices.iter().map(|choice| choice[part].clone()).collect() };
                field.extend([("enum".to_owned(), each("const")), ("enumNames".to_owned(), each("title"))]);
            }
            _ if known(word) => {
                field.insert(word.clone(), value.clone());
            }
            _ => {}
        }
    }
    Some(field)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::form::{Field, Format};

    #[test]
    fn what_that_version_has_stays_as_it_is() {
        let form = Form::new()
            .with(&Field::<String>::new("mail").title("Mail").format(Format::Email).max_length(60))
            .with(&Field::<String>::new("colour").one_of(["red", "blue"]).description("Which?"))
            .with(&Field::<f64>::new("share").min(0.0).max(1.0))
            .with(&Field::<bool>::new("sure").default(true))
            .with(&Field::<Option<String>>::new("note"));
        assert_eq!(form.to_older_value(), Some(form.to_value()));
        assert_eq!(Form::new().to_older_value(), Some(json!({ "type": "object", "properties": {} })));
    }
}
