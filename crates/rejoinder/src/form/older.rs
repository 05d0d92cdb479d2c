//! Forms for clients of versions before 2025-11-25.

use serde_json::{Map, Value};

use super::Form;

impl Form {
    /// The schema as 2025-06-18 has it: titles of choices as `enumNames`, a default only for a boolean, no pattern.
    /// The answer is still checked against everything that is left out.
    ///
    /// `None` if a field has a type that 2025-06-18 does not have, such as a list of choices.
    pub(crate) fn to_older_value(&self) -> Option<Value> {
        let mut form = self.to_value();
        for (_, property) in form["properties"].as_object_mut()? {
            *property = older_property(property.as_object()?)?.into();
        }
        Some(form)
    }
}

fn older_property(property: &Map<String, Value>) -> Option<Map<String, Value>> {
    let keywords: &[&str] = match property.get("type")?.as_str()? {
        "string" => &["enum", "enumNames", "minLength", "maxLength", "format"],
        "number" | "integer" => &["minimum", "maximum"],
        "boolean" => &["default"],
        _ => return None,
    };
    let mut older = Map::new();
    for (keyword, value) in property {
        match (keyword.as_str(), value.as_array()) {
            ("oneOf", Some(choices)) => {
                let each = |part: &str| -> Value { choices.iter().map(|choice| choice[part].clone()).collect() };
                older.extend([("enum".to_owned(), each("const")), ("enumNames".to_owned(), each("title"))]);
            }
            (word, _) if ["type", "title", "description"].contains(&word) || keywords.contains(&word) => {
                older.insert(keyword.clone(), value.clone());
            }
            _ => {}
        }
    }
    Some(older)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{form::Field, schema::Format};

    #[test]
    fn keywords_of_that_version_stay() {
        let form = Form::new()
            .with(&Field::<String>::new("mail").title("Mail").format(Format::Email).max_length(60))
            .with(&Field::<String>::new("colour").one_of(["red", "blue"]).description("Which?"))
            .with(&Field::<f64>::new("share").min(0.0).max(1.0))
            .with(&Field::<bool>::new("sure").default(true))
            .with(&Field::<Option<String>>::new("note"));
        assert_eq!(form.to_older_value(), Some(form.to_value()));
        assert_eq!(Form::new().to_older_value(), Some(json!({ "type": "object", "properties": {} })));
    }

    #[test]
    fn titles_of_choices_become_enum_names() {
        let size = Field::<String>::new("size").one_of([("s", "Small"), ("l", "Large")]);
        let older = Form::new().with(&size).to_older_value().expect("a string is in every version");
        assert_eq!(
            older["properties"]["size"],
            json!({ "type": "string", "enum": ["s", "l"], "enumNames": ["Small", "Large"] }),
        );
    }
}
