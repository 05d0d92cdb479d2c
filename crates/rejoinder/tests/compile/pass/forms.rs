//! The valid counterparts of `fail/forms`.

#![deny(warnings)]

use rejoinder::{prelude::*, form::{ElicitField, FormErrors}};
use serde_json::{Map, Value};

// Names that the expansion uses, or might.
const FIELDS: u8 = 2;
const NAME: &str = "Ada";
#[allow(dead_code)]
struct Field;
#[allow(dead_code)]
enum Option_ {
    Some,
    None,
}

/// A choice derives nothing else.
#[derive(ElicitEnum)]
pub enum Colour {
    Red,
    #[elicit(name = "dark-green", title = "Dark green")]
    Green,
    r#Type,
}

type Text = String;
type Colours = Vec<Colour>;

mod elsewhere {
    /// Words.
    #[derive(rejoinder::Elicit)]
    pub struct Word {
        pub word: std::string::String,
    }
}

#[derive(Elicit)]
struct Everything {
    /// Texts by any name.
    #[elicit(min_length = 1, max_length = 2 + 1, format = "date-time", pattern = "^", title = NAME)]
    text: Text,
    #[elicit(default = NAME)]
    name: String,
    #[elicit(min = -90.0, max = 90.0)]
    latitude: f64,
    #[elicit(max = 100, default = FIELDS)]
    percent: u8,
    #[elicit(min = i64::MIN, default = -1)]
    signed: Option<i64>,
    #[elicit(default = Colour::Red)]
    colour: Colour,
    #[elicit(default = [Colour::Red], min_items = 1)]
    colours: Colours,
    #[elicit(default = vec![], max_items = 2,)]
    #[elicit(title = "More")]
    more: Option<Vec<Colour>>,
    r#type: bool,
    content: String,
    errors: String,
    fields: String,
    __rj: String,
    __rj_content: String,
}

#[derive(Elicit)]
struct Nothing {}

#[derive(Elicit)]
struct Unit;

/// A type of one's own.
#[derive(Debug)]
struct Even(u32);

impl ElicitField for Even {
    type Default = u32;

    fn schema() -> Map<String, Value> {
        u32::schema()
    }

    fn read(value: &Value) -> Result<Self, String> {
        let number = u32::read(value)?;
        if number % 2 == 0 { Ok(Self(number)) } else { Err("must be even".into()) }
    }

    fn write(&self) -> Value {
        self.0.into()
    }

    fn from_default(default: u32) -> Self {
        Self(default)
    }
}

#[derive(Elicit)]
struct Own {
    #[elicit(default = 2)]
    even: Even,
}

fn is_form<T: Elicit>() -> Result<T, FormErrors> {
    let _ = T::form();
    T::read(&Map::new())
}

fn main() {
    let _ = is_form::<Nothing>();
    let _ = is_form::<Unit>();
    let _ = is_form::<elsewhere::Word>();
    assert!(is_form::<Own>().is_ok_and(|own| own.even.0 == 2));
    assert_eq!(Colour::from_value("Type").map(|colour| colour.value()), Some("Type"));
    assert!(is_form::<Everything>().is_err());
}
