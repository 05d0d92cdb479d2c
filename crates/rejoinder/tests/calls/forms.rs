//! Forms: the schema that the client gets, and how answers are read.

use insta::assert_json_snapshot;
use rejoinder::{
    Ask, Elicit, ElicitEnum, Outcome,
    form::{ConfirmForm, Field, Form, FormErrors, TextForm},
};
use rmcp::model::{ElicitationSchema, PrimitiveSchemaDefinition};
use serde_json::{Map, Value, json};

fn content(answer: &Value) -> &Map<String, Value> {
    answer.as_object().expect("an answer is an object")
}

fn read<T: Elicit>(answer: &Value) -> Result<T, FormErrors> {
    T::read(content(answer))
}

fn refused<T: Elicit>(answer: &Value) -> String {
    match read::<T>(answer) {
        Ok(_) => panic!("the answer was accepted"),
        Err(errors) => errors.to_string(),
    }
}

#[derive(Debug, PartialEq, ElicitEnum)]
#[elicit(rename_all = "lowercase")]
enum Status {
    Active,
    Inactive,
    Pending,
}

/// The form of the conformance suite's `test_elicitation_sep1034_defaults`.
#[derive(Debug, PartialEq, Elicit)]
struct Defaults {
    /// User name
    #[elicit(default = "John Doe")]
    name: String,
    /// User age
    #[elicit(default = 30)]
    age: u32,
    /// User score
    #[elicit(default = 95.5)]
    score: f64,
    /// User status
    #[elicit(default = Status::Active)]
    status: Status,
    /// Verification status
    #[elicit(default = true)]
    verified: bool,
}

#[derive(Debug, PartialEq, ElicitEnum)]
#[elicit(rename_all = "camelCase")]
enum Untitled {
    Option1,
    Option2,
    Option3,
}

#[derive(Debug, PartialEq, ElicitEnum)]
enum Titled {
    #[elicit(name = "value1", title = "First Option")]
    One,
    #[elicit(name = "value2", title = "Second Option")]
    Two,
    #[elicit(name = "value3", title = "Third Option")]
    Three,
}

#[derive(Debug, PartialEq, ElicitEnum)]
#[elicit(legacy_names, rename_all = "kebab-case")]
enum Legacy {
    #[elicit(title = "Option One")]
    One,
    #[elicit(title = "Option Two")]
    Two,
    NumberThree,
}

/// The form of the conformance suite's `test_elicitation_sep1330_enums`.
#[derive(Debug, PartialEq, Elicit)]
struct Enums {
    #[elicit(name = "untitledSingle")]
    untitled_single: Untitled,
    #[elicit(name = "titledSingle")]
    titled_single: Titled,
    #[elicit(name = "legacyEnum")]
    legacy_enum: Legacy,
    #[elicit(name = "untitledMulti", min_items = 1, max_items = 2, default = [Untitled::Option1, Untitled::Option3])]
    untitled_multi: Vec<Untitled>,
    #[elicit(name = "titledMulti")]
    titled_multi: Vec<Titled>,
}

#[derive(Debug, PartialEq, ElicitEnum)]
#[elicit(rename_all = "lowercase")]
enum Colour {
    Red,
    Green,
}

/// The same as `Form` in the Python reference server.
#[derive(Debug, PartialEq, Elicit)]
struct Order {
    #[elicit(title = "Colour", default = Colour::Red)]
    colour: Colour,
    #[elicit(title = "Count", min = 1, max = 3, default = 1)]
    count: i64,
    #[elicit(title = "Note")]
    note: Option<String>,
}

/// One field of each kind that the other forms do not have.
#[derive(Debug, PartialEq, Elicit)]
struct Everything {
    /// Where the receipt goes.
    ///
    /// It is not shown to others.
    #[elicit(title = "Email address", format = "email", max_length = 254)]
    email: String,
    #[elicit(format = "uri", description = "Your page")]
    page: Option<String>,
    #[elicit(format = "date")]
    #[elicit(title = "Birthday")]
    born: Option<String>,
    #[elicit(format = "date-time", default = "2026-01-31T14:30:00Z")]
    at: String,
    #[elicit(min_length = 3, max_length = 8, pattern = "^[a-z]+$")]
    code: String,
    #[elicit(min = -90.0, max = 90.0)]
    latitude: f64,
    #[elicit(min = 0.1, default = 0.1)]
    ratio: f32,
    #[elicit(min = -5)]
    small: i8,
    #[elicit(max = u64::MAX)]
    large: u64,
    r#type: Option<bool>,
    #[elicit(min_items = 1)]
    colours: Option<Vec<Colour>>,
}

/// Rules that the forms of MCP have no keywords for.
#[derive(Debug, PartialEq, Elicit)]
struct Unshown {
    #[elicit(exclusive_min = 0.0, exclusive_max = 1.0)]
    share: f64,
    /// In steps of five.
    #[elicit(multiple_of = 5, default = 10, example = 15)]
    step: u8,
    #[elicit(format = "uuid")]
    id: Option<String>,
    #[elicit(unique_items, max_items = 2)]
    colours: Option<Vec<Colour>>,
}

#[test]
fn a_rule_that_forms_do_not_show_is_enforced() {
    assert_eq!(
        Unshown::form().to_value()["properties"],
        json!({
            "share": { "type": "number" },
            "step": {
                "type": "integer", "description": "In steps of five.\n\nFor example: 15", "minimum": 0, "maximum": 255, "default": 10,
            },
            "id": { "type": "string" },
            "colours": { "type": "array", "maxItems": 2, "items": { "type": "string", "enum": ["red", "green"] } },
        })
    );
    let id = "67e55044-10b1-426f-9247-bb680e5fe0c8";
    assert!(read::<Unshown>(&json!({ "share": 0.5, "step": 15, "id": id, "colours": ["red"] })).is_ok());
    assert_eq!(
        refused::<Unshown>(&json!({ "share": 1, "step": 7, "id": "7", "colours": ["red", "red"] })),
        "`share` must be more than 0 and less than 1; `step` must be a multiple of 5; `id` must be a UUID such as \
         `67e55044-10b1-426f-9247-bb680e5fe0c8`; `colours` must not have the same item twice"
    );
}

#[derive(Debug, PartialEq, Elicit)]
struct Nothing {}

#[derive(Debug, PartialEq, Elicit)]
struct Unit;

#[test]
fn d9_forms_are_schemas_as_mcp_defines_them() {
    assert_json_snapshot!("defaults", Defaults::form());
    assert_json_snapshot!("enums", Enums::form());
    assert_json_snapshot!("order", Order::form());
    assert_json_snapshot!("everything", Everything::form());
    assert_json_snapshot!("nothing", Nothing::form());
    assert_eq!(Unit::form(), Nothing::form());
}

#[test]
fn to_value_and_serialize_agree() {
    assert_eq!(serde_json::to_value(Everything::form()).expect("JSON"), Everything::form().to_value());
}

#[test]
fn rmcp_reads_every_keyword_of_the_forms() {
    for form in [Defaults::form(), Enums::form(), Order::form(), Nothing::form(), ConfirmForm::form(), TextForm::form()]
    {
        let schema: ElicitationSchema = serde_json::from_value(form.to_value()).expect("a schema of MCP");
        assert_eq!(serde_json::to_value(schema).expect("JSON"), form.to_value());
    }
    let schema: ElicitationSchema = serde_json::from_value(Enums::form().to_value()).expect("a schema");
    let is_enum = |property| matches!(property, &PrimitiveSchemaDefinition::Enum(_));
    assert!(schema.properties.values().all(is_enum), "{schema:#?}");
}

#[test]
fn a_written_answer_is_read_as_the_same_value() {
    let everything = || Everything {
        email: "ada@example.com".into(),
        page: None,
        born: Some("1815-12-10".into()),
        at: "1843-09-01T12:00:00+00:00".into(),
        code: "note".into(),
        latitude: 51.5,
        ratio: 0.3,
        small: -5,
        large: u64::MAX,
        r#type: Some(false),
        colours: Some(vec![Colour::Green, Colour::Red]),
    };
    assert_eq!(Everything::read(&everything().write()), Ok(everything()));
    assert_json_snapshot!("everything_written", everything().write());
}

#[test]
fn a_field_that_is_left_out_is_none_or_the_default() {
    let order = Order { colour: Colour::Red, count: 1, note: None };
    assert_eq!(read(&json!({})), Ok(order));
    let order = Order { colour: Colour::Green, count: 1, note: None };
    assert_eq!(read(&json!({ "colour": "green", "count": null, "note": null, "extra": [{}] })), Ok(order));
    let defaults = Defaults { name: "John Doe".into(), age: 30, score: 95.5, status: Status::Active, verified: true };
    assert_eq!(read(&json!({})), Ok(defaults));
    assert_eq!(read(&json!({})), Ok(Nothing {}));
    assert_eq!(read(&json!({ "a": 1 })), Ok(Unit));
}

#[test]
fn null_empties_an_optional_field_that_has_a_default() {
    #[derive(Debug, PartialEq, Elicit)]
    struct Note {
        #[elicit(default = "hello")]
        note: Option<String>,
    }
    assert_eq!(read(&json!({})), Ok(Note { note: Some("hello".into()) }));
    assert_eq!(read(&json!({ "note": null })), Ok(Note { note: None }));
    assert_eq!(read(&json!({ "note": "" })), Ok(Note { note: Some("".into()) }));
}

#[derive(Debug, PartialEq, Elicit)]
struct Optional {
    age: Option<u8>,
    #[elicit(format = "email")]
    email: Option<String>,
    yes: Option<bool>,
}

#[test]
fn an_empty_string_empties_an_optional_field_that_does_not_accept_it() {
    let none = Optional { age: None, email: None, yes: None };
    assert_eq!(read(&json!({ "age": "", "email": "", "yes": "" })), Ok(none));
    assert_eq!(refused::<Optional>(&json!({ "age": " " })), "`age` must be a whole number");
}

#[derive(Debug, PartialEq, Elicit)]
struct Numbers {
    whole: i64,
    byte: u8,
    real: f64,
    yes: bool,
}

#[test]
fn strings_are_read_as_the_numbers_and_booleans_that_they_spell() {
    let spelled = [
        json!({ "whole": "-7", "byte": "200", "real": "1.5", "yes": "true" }),
        json!({ "whole": " -7 ", "byte": "200.0", "real": "15e-1", "yes": "Yes" }),
        json!({ "whole": -7.0, "byte": 2e2, "real": 1.5, "yes": true }),
    ];
    for spelled in spelled {
        assert_eq!(read(&spelled), Ok(Numbers { whole: -7, byte: 200, real: 1.5, yes: true }));
    }
    assert_eq!(
        refused::<Numbers>(&json!({ "whole": "seven", "byte": "7.5", "real": "NaN", "yes": 1 })),
        "`whole` must be a whole number; `byte` must be a whole number; `real` must be a number; \
         `yes` must be true or false"
    );
}

#[test]
fn the_bounds_of_the_type_are_checked() {
    let numbers = |whole: Value, byte: Value| json!({ "whole": whole, "byte": byte, "real": 0, "yes": false });
    assert_eq!(refused::<Numbers>(&numbers(json!(0), json!(256))), "`byte` must be between 0 and 255");
    assert_eq!(refused::<Numbers>(&numbers(json!(0), json!(-1))), "`byte` must be between 0 and 255");
    assert_eq!(refused::<Numbers>(&numbers(json!(1e30), json!(1))), "`whole` must be at most 9223372036854775807");
    // A floating-point number of this size stands for several whole ones.
    let rounded = "`whole` must be a whole number";
    assert_eq!(refused::<Numbers>(&numbers(json!("9007199254740993.0"), json!(1))), rounded);
    assert_eq!(refused::<Numbers>(&numbers(json!(1e18), json!(1))), rounded);
    let largest = i64::MAX.to_string();
    assert_eq!(read::<Numbers>(&numbers(largest.into(), json!(1))).map(|read| read.whole), Ok(i64::MAX));
}

#[test]
fn all_errors_are_reported_at_once() {
    let nothing = refused::<Everything>(&json!({}));
    let types = refused::<Everything>(&json!({
        "email": 1, "page": {}, "born": [], "at": true, "code": 7, "latitude": "x", "ratio": [], "small": 1.5,
        "large": "", "type": "maybe", "colours": "red",
    }));
    let values = refused::<Everything>(&json!({
        "email": "ada", "page": "example.com", "born": "1815-13-10", "at": "now", "code": "ab", "latitude": 90.5,
        "ratio": 0, "small": -6, "large": -1, "type": null, "colours": [],
    }));
    let others = refused::<Everything>(&json!({
        "email": format!("{}@b.c", "a".repeat(300)), "code": "ABC", "latitude": -91, "ratio": 1e39, "small": 128,
        "large": 1e20, "colours": ["red", "blue"],
    }));
    let errors = [nothing, types, values, others].map(|errors| errors.replace("; ", "\n"));
    insta::assert_snapshot!("errors", errors.join("\n\n"));
}

#[test]
fn an_unknown_choice_lists_the_choices() {
    let answer = json!({
        "untitledSingle": "option9", "titledSingle": "One", "legacyEnum": null,
        "untitledMulti": ["option1", "option2", "option3"], "titledMulti": [1],
    });
    assert_eq!(
        refused::<Enums>(&answer).replace("; ", "\n"),
        "`untitledSingle` must be one of `option1`, `option2`, `option3`\n\
         `titledSingle` must be one of `value1`, `value2`, `value3`\n\
         `legacyEnum` is missing\n\
         `untitledMulti` must have between 1 and 2 items\n\
         `titledMulti` must be a list of any of `value1`, `value2`, `value3`"
    );
    let answer = json!({
        "untitledSingle": "option2", "titledSingle": "value3", "legacyEnum": "number-three", "titledMulti": [],
    });
    let enums = Enums {
        untitled_single: Untitled::Option2,
        titled_single: Titled::Three,
        legacy_enum: Legacy::NumberThree,
        untitled_multi: vec![Untitled::Option1, Untitled::Option3],
        titled_multi: vec![],
    };
    assert_eq!(read(&answer), Ok(enums));
}

#[test]
fn lengths_count_characters() {
    #[derive(Debug, PartialEq, Elicit)]
    struct Initial {
        #[elicit(min_length = 1, max_length = 1)]
        letter: String,
    }
    assert_eq!(read(&json!({ "letter": "é" })), Ok(Initial { letter: "é".into() }));
    assert_eq!(refused::<Initial>(&json!({ "letter": "" })), "`letter` must be exactly 1 character long");
}

#[test]
#[should_panic(expected = "the default \"nobody\" of the field `email` must be an email address")]
fn a_default_that_breaks_a_rule_panics() {
    #[derive(Elicit)]
    struct Contact {
        #[elicit(format = "email", default = "nobody")]
        email: String,
    }
    let _ = Contact::form();
}

#[test]
fn a_choice_cannot_be_chosen_twice() {
    #[derive(Debug, PartialEq, Elicit)]
    struct Two {
        #[elicit(min_items = 2)]
        status: Vec<Status>,
    }
    assert_eq!(
        read(&json!({ "status": ["active", "pending"] })),
        Ok(Two { status: vec![Status::Active, Status::Pending] })
    );
    let twice = "`status` must not have the same item twice";
    assert_eq!(refused::<Two>(&json!({ "status": ["active", "active"] })), twice);
    assert_eq!(refused::<Two>(&json!({ "status": vec!["active"; 4] })), twice);
}

#[test]
fn a_list_that_is_known_at_run_time_keeps_its_number_of_choices() {
    let days = Field::any_of("days", ["monday", "tuesday", "friday"]).min_items(1).max_items(2);
    let schema = Form::new().with(&days).to_value()["properties"]["days"].clone();
    assert_eq!((&schema["minItems"], &schema["maxItems"]), (&json!(1), &json!(2)));
    for (chosen, expected) in [
        (json!(["friday"]), ""),
        (json!([]), "`days` must have between 1 and 2 items"),
        (json!(["monday", "tuesday", "friday"]), "`days` must have between 1 and 2 items"),
    ] {
        let mut errors = FormErrors::default();
        days.read(json!({ "days": chosen }).as_object().unwrap(), &mut errors);
        assert_eq!(errors.to_string(), expected);
    }
}

#[test]
fn an_accepted_form_without_content_is_an_empty_answer() {
    #[derive(Debug, PartialEq, Elicit)]
    struct Note {
        text: Option<String>,
        #[elicit(default = 3)]
        stars: u8,
    }
    let accepted = Ok(Outcome::Accepted(Note { text: None, stars: 3 }));
    let note = |answer: Value| <Note as rejoinder::ask::Answer>::read(&answer);
    assert_eq!(note(json!({ "action": "accept" })), accepted);
    assert_eq!(note(json!({ "action": "accept", "content": null })), accepted);
    assert!(note(json!({ "action": "accept", "content": [] })).is_err());
    let missing = <TextForm as rejoinder::ask::Answer>::read(&json!({ "action": "accept" })).unwrap_err();
    assert_eq!(missing.0, "`text` is missing");
}

#[test]
fn a_field_replaces_the_field_of_the_same_name() {
    let name = Field::<String>::new("name");
    assert_eq!(Form::new().with(&name).with(&name).to_value()["required"], json!(["name"]));
    let optional = Form::new().with(&name).with(&Field::<Option<String>>::new("name"));
    assert_eq!(optional.to_value().get("required"), None);
}

#[test]
fn titles_of_choices_are_optional() {
    let plain = json!({ "type": "string", "enum": ["main", "v1"] });
    let branch = || Field::<String>::new("branch");
    for branch in [branch().one_of(["main", "v1"]), branch().one_of(&["main".to_owned(), "v1".to_owned()])] {
        assert_eq!(Form::new().with(&branch).to_value()["properties"]["branch"], plain);
    }
    let _: Ask<String> = Ask::choice("Which branch?", vec!["main".to_owned()]);
}

#[test]
fn ready_made_forms_read_and_write() {
    assert_eq!(ConfirmForm::read(&ConfirmForm { yes: true }.write()), Ok(ConfirmForm { yes: true }));
    assert_eq!(TextForm::read(&TextForm { text: "so".into() }.write()), Ok(TextForm { text: "so".into() }));
    assert_eq!(refused::<TextForm>(&json!({ "text": 1 })), "`text` must be a string");
}

#[test]
fn a_choice_is_its_value_and_not_its_title() {
    let choice = Field::<String>::new("choice").one_of([("a".to_owned(), "Number 1")]);
    assert_json_snapshot!("choice", Form::new().with(&choice));
    for (answer, expected) in [
        (json!({ "choice": "a" }), Ok("a".to_owned())),
        (json!({ "choice": "Number 1" }), Err("`choice` must be `a`".to_owned())),
        (json!({}), Err("`choice` is missing".to_owned())),
    ] {
        let mut errors = FormErrors::default();
        let chosen = choice.read(answer.as_object().unwrap(), &mut errors);
        assert_eq!(chosen.ok_or(errors.to_string()), expected);
    }
}

#[test]
fn dates_times_and_uuids_are_fields() {
    use chrono::{DateTime, NaiveDate, Utc};
    use uuid::Uuid;

    #[derive(Debug, PartialEq, Elicit)]
    struct Appointment {
        /// Which day?
        day: NaiveDate,
        at: Option<DateTime<Utc>>,
        patient: Uuid,
        #[elicit(default = NaiveDate::from_ymd_opt(2020, 1, 1).unwrap_or_default())]
        since: NaiveDate,
    }
    let form = Appointment::form().to_value();
    assert_eq!(form["properties"]["day"], json!({ "type": "string", "description": "Which day?", "format": "date" }));
    assert_eq!(form["properties"]["at"], json!({ "type": "string", "format": "date-time" }));
    assert_eq!(form["properties"]["patient"], json!({ "type": "string", "minLength": 36, "maxLength": 36 }));
    assert_eq!(form["required"], json!(["day", "patient"]));

    let answer = json!({
        "day": "2026-01-31",
        "at": "2026-01-31T14:30:00.5+01:00",
        "patient": "67e55044-10b1-426f-9247-bb680e5fe0c8",
        "since": "2020-02-29",
    });
    let appointment: Appointment = read(&answer).unwrap();
    assert_eq!(appointment.day, NaiveDate::from_ymd_opt(2026, 1, 31).unwrap());
    let written = appointment.write();
    assert_eq!(written["at"], "2026-01-31T13:30:00.500Z");
    assert_eq!(read(&Value::Object(written)), Ok(appointment));
    assert_eq!(
        refused::<Appointment>(&json!({ "day": "2026-02-30", "at": "noon", "patient": "67e55044", "since": 1 })),
        "`day` must be a date such as `2026-01-31`; `at` must be a date and time such as `2026-01-31T14:30:00Z`; \
         `patient` must be a UUID such as `67e55044-10b1-426f-9247-bb680e5fe0c8`; `since` must be a date such as `2026-01-31`",
    );
}

/// The names are those of serde, which are written once.
#[derive(Debug, PartialEq, Elicit, serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Delivery {
    first_name: String,
    #[serde(rename = "when")]
    due: Speed,
    #[serde(rename = "ignored")]
    #[elicit(name = "notes")]
    further_notes: Option<String>,
}

#[derive(Debug, PartialEq, ElicitEnum, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
enum Speed {
    NextDay,
    #[serde(rename = "whenever")]
    InTime,
}

#[test]
fn names_of_serde_are_the_names_of_a_form() {
    let delivery: Delivery = read(&json!({ "firstName": "Ada", "when": "next-day", "notes": "-" })).unwrap();
    assert_eq!(delivery, Delivery { first_name: "Ada".into(), due: Speed::NextDay, further_notes: Some("-".into()) });
    assert_eq!(delivery.write().keys().collect::<Vec<_>>(), ["firstName", "when", "notes"]);
    assert_eq!(serde_json::to_value(&delivery.due).unwrap(), delivery.due.value());
    assert_eq!(Speed::from_value("whenever"), Some(Speed::InTime));
    let written = serde_json::to_value(&delivery).unwrap();
    assert_eq!((&written["firstName"], &written["when"]), (&json!("Ada"), &json!("next-day")), "as serde writes it");
}
