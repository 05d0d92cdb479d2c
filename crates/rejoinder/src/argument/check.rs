//! Checks JSON against a schema that was compiled once.
//!
//! It enforces what a schema says, wherever the keyword came from: `#[arg(..)]`, schemars, `garde`, `validate`, or a schema
//! that was written by hand. [`Rules`] has the checks of single values; this file has the structure around them.

use std::{
    collections::{HashMap, HashSet},
    fmt,
    sync::Arc,
};

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::{ArgumentError, ArgumentErrors, got, unknown};
use crate::schema::{LONGEST_MATCHED, Matching, Pattern, Rules, Types, Variants};

/// Keywords that JSON Schema enforces and this file does not. All others that it does not know are annotations.
const NOT_ENFORCED: [&str; 16] = [
    "if",
    "then",
    "else",
    "contains",
    "minContains",
    "maxContains",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "unevaluatedItems",
    "unevaluatedProperties",
    "additionalItems",
    "$dynamicRef",
    "$recursiveRef",
    "extends",
    "disallow",
];

/// A compiled schema of an object: of the arguments of an item.
#[derive(Debug, Default)]
pub(crate) struct SchemaCheck {
    /// The schemas inside it, itself first. They refer to each other by their places.
    nodes: Vec<SchemaNode>,
    problems: Vec<String>,
}

/// How one argument is checked.
#[derive(Debug, Clone)]
pub(crate) struct ArgumentCheck {
    schema: Arc<SchemaCheck>,
    node: usize,
    /// Whether its schema says more than its type, which is checked when it is read.
    pub(crate) has_rules: bool,
    pub(crate) is_required: bool,
}

impl SchemaCheck {
    /// Compiles the schema of an object. The enums are those of Rust, which are checked when they are read.
    pub(crate) fn new(schema: &Value, enums: &[Variants]) -> Self {
        let (nodes, references, problems) = Default::default();
        let mut compiler = Compiler { document: schema, enums, nodes, references, problems };
        compiler.add(schema, "", false);
        let (mut open, mut done) = Default::default();
        (0..compiler.nodes.len()).for_each(|at| compiler.finish(at, &mut open, &mut done));
        Self { nodes: compiler.nodes, problems: compiler.problems }
    }

    /// Compiles the schema of a tool that is made at run time.
    pub(crate) fn of_object(schema: &Map<String, Value>) -> Self {
        Self::new(&Value::Object(schema.clone()), &[])
    }

    /// The keywords that cannot be enforced, and what to do about them.
    pub(crate) fn problems(&self) -> &[String] {
        &self.problems
    }

    /// The types of the values that it allows.
    pub(crate) fn accepts(&self) -> Types {
        self.nodes[0].accepts
    }

    /// How the argument of that name is checked.
    pub(crate) fn argument(self: &Arc<Self>, name: &str) -> ArgumentCheck {
        let root = &self.nodes[0];
        let node = root.properties.get(name).copied();
        ArgumentCheck {
            schema: Arc::clone(self),
            node: node.unwrap_or_default(),
            has_rules: node.is_some_and(|node| self.has_rules(node)),
            is_required: root.required.iter().any(|required| required == name),
        }
    }

    /// Whether a schema, or one inside it, says more than a Rust type.
    fn has_rules(&self, node: usize) -> bool {
        let (mut seen, mut left) = (HashSet::new(), vec![node]);
        while let Some(at) = left.pop() {
            if !seen.insert(at) {
                continue;
            }
            if self.nodes[at].has_rules {
                return true;
            }
            left.extend(self.nodes[at].inside());
        }
        false
    }

    /// Reads what is spelled as a string, and then checks the object.
    ///
    /// # Errors
    ///
    /// Everything that is wrong.
    pub(crate) fn check(&self, arguments: Map<String, Value>) -> Result<Map<String, Value>, ArgumentErrors> {
        let mut arguments = Value::Object(arguments);
        let checked = self.check_node(0, &mut arguments, &Matching::default());
        match (checked, arguments) {
            (Ok(_), Value::Object(arguments)) => Ok(arguments),
            (wrong, _) => {
                let mut errors = ArgumentErrors::default();
                wrong.err().into_iter().flatten().for_each(|error| errors.push(error.of("")));
                Err(errors)
            }
        }
    }

    /// Reads numbers and booleans that came as strings, where the schema allows no string; makes integers of `2.0`; leaves
    /// out the `null` of an optional property; and checks the result. Returns whether the value changed.
    pub(crate) fn check_node(
        &self,
        node: usize,
        value: &mut Value,
        matching: &Matching,
    ) -> Result<bool, Vec<ArgumentError>> {
        let (nodes, errors, left) = (&*self.nodes, Vec::new(), budget(value));
        let mut visit = Visit { nodes, errors, left, matching, may_change: true, changed: false };
        visit.visit(node, value, Path::Here);
        let changed = visit.changed;
        if changed {
            // Some of it was checked before other parts of the schema changed it.
            visit = Visit { errors: Vec::new(), left: budget(value), may_change: false, ..visit };
            visit.visit(node, value, Path::Here);
        }
        if visit.left == 0 && visit.errors.is_empty() {
            visit.error(Path::Here, true, TOO_COMPLEX.to_owned());
        }
        if visit.errors.is_empty() { Ok(changed) } else { Err(visit.errors) }
    }
}

impl ArgumentCheck {
    /// Whether its schema allows a string.
    pub(crate) fn allows_strings(&self) -> bool {
        self.schema.nodes[self.node].accepts.meet(Types::STRING)
    }

    /// Reads what is spelled as a string, and then checks the value. Returns whether the value changed.
    ///
    /// # Errors
    ///
    /// Everything that is wrong.
    pub(crate) fn check(&self, value: &mut Value, matching: &Matching) -> Result<bool, Vec<ArgumentError>> {
        self.schema.check_node(self.node, value, matching)
    }
}

/// One schema.
#[derive(Debug, Default)]
struct SchemaNode {
    types: Types,
    /// The types of all values that it allows, as far as its keywords and those of its parts say.
    accepts: Types,
    rules: Rules,
    /// Whether it says more than a Rust type.
    has_rules: bool,
    /// `enum` and `const`.
    allowed: Option<Vec<Value>>,
    properties: IndexMap<String, usize>,
    pattern_properties: Vec<(Pattern, usize)>,
    additional: Option<usize>,
    property_names: Option<usize>,
    required: Vec<String>,
    prefix_items: Vec<usize>,
    items: Option<usize>,
    /// `allOf` and `$ref`.
    all_of: Vec<usize>,
    any_of: Vec<usize>,
    one_of: Vec<usize>,
    not: Option<usize>,
}

impl SchemaNode {
    /// The schemas that apply to the same value.
    fn in_place(&self) -> impl Iterator<Item = usize> {
        [&self.all_of, &self.any_of, &self.one_of].into_iter().flatten().copied().chain(self.not)
    }

    /// All schemas directly inside it.
    fn inside(&self) -> impl Iterator<Item = usize> {
        let members = self.properties.values().copied().chain(self.pattern_properties.iter().map(|(_, at)| *at));
        let items = self.prefix_items.iter().copied();
        self.in_place()
            .chain(members)
            .chain(items)
            .chain([self.additional, self.property_names, self.items].into_iter().flatten())
    }
}

/// Compiles schemas.
struct Compiler<'a> {
    document: &'a Value,
    enums: &'a [Variants],
    nodes: Vec<SchemaNode>,
    /// The schemas that references lead to.
    references: HashMap<&'a str, usize>,
    problems: Vec<String>,
}

impl<'a> Compiler<'a> {
    /// Adds a schema. An alternative is one of several that a value may fit.
    fn add(&mut self, schema: &'a Value, path: &str, is_alternative: bool) -> usize {
        let at = self.nodes.len();
        self.nodes.push(SchemaNode::default());
        self.nodes[at] = match schema {
            Value::Object(schema) => self.compile(schema, path, is_alternative),
            Value::Bool(true) => SchemaNode::default(),
            Value::Bool(false) => SchemaNode { types: Types::NONE, ..SchemaNode::default() },
            _ => {
                self.problem(path, "is not an object");
                SchemaNode::default()
            }
        };
        at
    }

    fn problem(&mut self, path: &str, problem: impl fmt::Display) {
        let place = if path.is_empty() { "the schema".to_owned() } else { format!("the schema of `{path}`") };
        self.problems.push(format!("{place} {problem}"));
    }

    fn compile(&mut self, schema: &'a Map<String, Value>, path: &str, is_alternative: bool) -> SchemaNode {
        let rules = Rules::read(schema).unwrap_or_else(|problems| {
            problems.iter().for_each(|problem| self.problem(path, problem));
            Rules::default()
        });
        let mut node = SchemaNode { has_rules: rules.say_more_than_a_type(), rules, ..SchemaNode::default() };
        for (keyword, value) in schema {
            if self.keyword(&mut node, keyword, value, path, is_alternative).is_none() {
                self.problem(path, format_args!("has `{keyword}` with a value that JSON Schema does not allow"));
            }
        }
        // The variants of a Rust enum, and the tag of an alternative, are checked when they are read.
        let is_of_a_type = |allowed: &Vec<Value>| {
            is_alternative
                || self.enums.iter().any(|variants| {
                    allowed.iter().all(|value| value.as_str().is_some_and(|text| variants.contains(&text)))
                })
        };
        node.has_rules |= node.not.is_some() || node.property_names.is_some();
        node.has_rules |= node.allowed.as_ref().is_some_and(|allowed| !is_of_a_type(allowed));
        node
    }

    /// Adds a keyword to a node; `None` if its value is not one that it can have.
    fn keyword(
        &mut self,
        node: &mut SchemaNode,
        keyword: &str,
        value: &'a Value,
        path: &str,
        is_alternative: bool,
    ) -> Option<()> {
        let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        match keyword {
            "type" => {
                let names = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
                let types = names.iter().map(|name| Types::named(name.as_str()?));
                node.types = types.collect::<Option<Vec<_>>>()?.into_iter().fold(Types::NONE, Types::or);
            }
            "enum" | "const" => {
                let values = if keyword == "enum" { value.as_array()?.clone() } else { vec![value.clone()] };
                match &mut node.allowed {
                    Some(allowed) => allowed.retain(|allowed| values.iter().any(|value| same(value, allowed))),
                    None => node.allowed = Some(values),
                }
            }
            "properties" => {
                for (name, schema) in value.as_object()? {
                    let inside = self.add(schema, &below(name), is_alternative);
                    node.properties.insert(name.clone(), inside);
                }
            }
            "patternProperties" => {
                for (pattern, schema) in value.as_object()? {
                    let inside = self.add(schema, &below("*"), false);
                    match Pattern::new(pattern) {
                        Ok(pattern) => node.pattern_properties.push((pattern, inside)),
                        Err(error) => self.problem(path, format_args!("has a pattern that is not supported: {error}")),
                    }
                }
            }
            "additionalProperties" => node.additional = Some(self.add(value, &below("*"), false)),
            "propertyNames" => node.property_names = Some(self.add(value, path, false)),
            "required" => {
                let names = value.as_array()?.iter().map(|name| name.as_str().map(str::to_owned));
                node.required = names.collect::<Option<_>>()?;
            }
            "items" => node.items = Some(self.add(value, &format!("{path}[]"), false)),
            "prefixItems" => node.prefix_items = self.add_all(value, &format!("{path}[]"), false)?,
            "allOf" => node.all_of.extend(self.add_all(value, path, is_alternative)?),
            "anyOf" => node.any_of = self.add_all(value, path, true)?,
            "oneOf" => node.one_of = self.add_all(value, path, true)?,
            "not" => node.not = Some(self.add(value, path, false)),
            "$ref" => {
                let reference = value.as_str()?;
                match self.reference(reference, path) {
                    Some(inside) => node.all_of.push(inside),
                    None => {
                        self.problem(path, format_args!("has a `$ref` to `{reference}`, which is not a part of it"));
                    }
                }
            }
            _ if NOT_ENFORCED.contains(&keyword) => {
                self.problem(path, format_args!("has `{keyword}`, which nothing enforces"));
            }
            _ => {}
        }
        Some(())
    }

    fn add_all(&mut self, schemas: &'a Value, path: &str, is_alternative: bool) -> Option<Vec<usize>> {
        Some(schemas.as_array()?.iter().map(|schema| self.add(schema, path, is_alternative)).collect())
    }

    /// The schema that a reference leads to.
    fn reference(&mut self, reference: &'a str, path: &str) -> Option<usize> {
        if let Some(known) = self.references.get(reference) {
            return Some(*known);
        }
        let pointer = reference.strip_prefix('#').filter(|pointer| pointer.is_empty() || pointer.starts_with('/'))?;
        let document = self.document;
        let schema = document.pointer(pointer)?;
        // It is known before it is compiled, because it may refer to itself. It is the next one.
        self.references.insert(reference, self.nodes.len());
        Some(self.add(schema, path, false))
    }

    /// Finds the types that a schema accepts, after those of its parts, and refuses one that is checked by checking itself.
    /// Each schema is visited once, however many references lead to it.
    fn finish(&mut self, at: usize, open: &mut Vec<usize>, done: &mut HashSet<usize>) {
        if open.contains(&at) {
            self.problem("", "has a `$ref` that leads to itself");
            let SchemaNode { all_of, any_of, one_of, not, .. } = &mut self.nodes[at];
            (*all_of, *any_of, *one_of, *not) = Default::default();
        } else if done.insert(at) {
            open.push(at);
            for inside in self.nodes[at].in_place().collect::<Vec<_>>() {
                self.finish(inside, open, done);
            }
            open.pop();
            self.nodes[at].accepts = self.accepts(at);
        }
    }

    /// The types that a schema accepts, if those of its parts are known.
    fn accepts(&self, at: usize) -> Types {
        let node = &self.nodes[at];
        let any = |arms: &[usize]| match arms {
            [] => Types::default(),
            arms => arms.iter().map(|arm| self.nodes[*arm].accepts).fold(Types::NONE, Types::or),
        };
        let allowed = node.allowed.iter().map(|allowed| allowed.iter().map(Types::of).fold(Types::NONE, Types::or));
        let all = node.all_of.iter().map(|part| self.nodes[*part].accepts).chain(allowed);
        all.fold(node.types.and(any(&node.any_of)).and(any(&node.one_of)), Types::and)
    }
}

/// Checks one value.
struct Visit<'a> {
    nodes: &'a [SchemaNode],
    errors: Vec<ArgumentError>,
    /// How many more schemas may be compared with values: alternatives inside alternatives multiply.
    left: usize,
    matching: &'a Matching,
    /// Whether it changes values into what the schema expects. Only a schema that certainly applies does.
    may_change: bool,
    changed: bool,
}

const TOO_COMPLEX: &str = "is too complex to be checked";

/// More than any honest value needs.
fn budget(value: &Value) -> usize {
    const LEAST: usize = 10_000;
    fn count(value: &Value) -> usize {
        match value {
            Value::Array(items) => 1 + items.iter().map(count).sum::<usize>(),
            Value::Object(members) => 1 + members.values().map(count).sum::<usize>(),
            _ => 1,
        }
    }
    LEAST + 64 * count(value)
}

/// Where a value is inside an argument.
#[derive(Clone, Copy)]
enum Path<'a> {
    Here,
    Member(&'a Path<'a>, &'a str),
    Item(&'a Path<'a>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Here => Ok(()),
            Self::Member(Self::Here, name) => f.write_str(name),
            Self::Member(parent, name) => write!(f, "{parent}.{name}"),
            Self::Item(parent, at) => write!(f, "{parent}[{at}]"),
        }
    }
}

impl Visit<'_> {
    /// More errors than are ever reported.
    const MOST_ERRORS: usize = 32;

    fn error(&mut self, path: Path<'_>, breaks_rule: bool, message: String) {
        self.errors.push(ArgumentError { field: path.to_string(), message, breaks_rule });
    }

    fn visit(&mut self, at: usize, value: &mut Value, path: Path<'_>) {
        if self.errors.len() > Self::MOST_ERRORS {
            return;
        }
        let Some(left) = self.left.checked_sub(1) else { return self.error(path, true, TOO_COMPLEX.to_owned()) };
        self.left = left;
        let node = &self.nodes[at];
        if let Some(meant) = node.accepts.meant_by(value).filter(|_| self.may_change) {
            *value = meant;
            self.changed = true;
        }
        if !node.types.meet(Types::of(value)) {
            return self.error(path, false, expected(node.accepts, value));
        }
        if let Some(allowed) = node.allowed.as_ref().filter(|allowed| !allowed.iter().any(|one| same(one, value))) {
            return self.error(path, false, format!("expected {}, got {}", listed(allowed), got(value)));
        }
        if let Some((broken, got)) = node.rules.broken_by(value, self.matching) {
            self.error(path, node.has_rules, format!("{broken}, got {got}"));
        }
        match value {
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    if let Some(inside) = node.prefix_items.get(index).copied().or(node.items) {
                        self.visit(inside, item, Path::Item(&path, index));
                    }
                }
            }
            Value::Object(members) => self.visit_members(node, members, path),
            _ => {}
        }
        for part in &node.all_of {
            self.visit(*part, value, path);
        }
        self.visit_alternatives(&node.any_of, false, value, path);
        self.visit_alternatives(&node.one_of, true, value, path);
        if let Some(not) = node.not
            && self.attempt(not, value, path).is_empty()
        {
            let message = match &self.nodes[not].allowed {
                Some(excluded) => format!("must not be {}", listed(excluded)),
                None => format!("is excluded by the schema, got {}", got(value)),
            };
            self.error(path, true, message);
        }
    }

    fn visit_members(&mut self, node: &SchemaNode, members: &mut Map<String, Value>, path: Path<'_>) {
        if self.may_change {
            let is_left_out = |name: &String, value: &Value| {
                let property = node.properties.get(name).filter(|_| !node.required.contains(name));
                value.is_null() && property.is_some_and(|at| !self.nodes[*at].accepts.meet(Types::NULL))
            };
            let count = members.len();
            members.retain(|name, value| !is_left_out(name, value));
            self.changed |= members.len() < count;
        }
        for name in node.required.iter().filter(|name| !members.contains_key(*name)) {
            self.error(Path::Member(&path, name), false, ArgumentError::required().message);
        }
        for (name, value) in members {
            let path = Path::Member(&path, name);
            if let Some(names) = node.property_names {
                self.visit(names, &mut Value::String(name.clone()), path);
            }
            if !node.pattern_properties.is_empty() && name.len() > LONGEST_MATCHED {
                self.error(path, false, format!("a name must be at most {LONGEST_MATCHED} bytes long"));
                continue;
            }
            let mut is_known = false;
            if let Some(property) = node.properties.get(name) {
                is_known = true;
                self.visit(*property, value, path);
            }
            for (pattern, inside) in &node.pattern_properties {
                match pattern.is_match(name, self.matching) {
                    Some(true) => {
                        is_known = true;
                        self.visit(*inside, value, path);
                    }
                    Some(false) => {}
                    None => return self.error(path, true, TOO_COMPLEX.to_owned()),
                }
            }
            match node.additional.filter(|_| !is_known) {
                Some(none) if self.nodes[none].types == Types::NONE => {
                    let is_argument = matches!(path, Path::Member(Path::Here, _));
                    let words = if is_argument { ("argument", "arguments") } else { ("property", "properties") };
                    self.error(path, false, unknown(words, node.properties.keys()));
                }
                Some(additional) => self.visit(additional, value, path),
                None => {}
            }
        }
    }

    /// Checks a value that must fit one of these, or exactly one.
    fn visit_alternatives(&mut self, arms: &[usize], exactly_one: bool, value: &mut Value, path: Path<'_>) {
        if arms.is_empty() {
            return;
        }
        let possible: Vec<_> = arms.iter().copied().filter(|arm| self.outline_fits(*arm, value)).collect();
        if let [only] = possible[..] {
            return self.visit(only, value, path);
        }
        let (mut fitting, mut nearest) = (0, None::<Vec<ArgumentError>>);
        for arm in possible {
            let errors = self.attempt(arm, value, path);
            if errors.is_empty() {
                fitting += 1;
                if !exactly_one || fitting > 1 {
                    break;
                }
            } else if nearest.as_ref().is_none_or(|nearest| errors.len() < nearest.len()) {
                nearest = Some(errors);
            }
        }
        match (fitting, nearest) {
            (1, _) => {}
            (0, Some(errors)) => self.errors.extend(errors),
            (0, None) => {
                if let Some((name, tags)) = unknown_tag(self.nodes, arms, value) {
                    let message = format!("expected {}, got {}", listed(&tags), got(&value[name]));
                    return self.error(Path::Member(&path, name), false, message);
                }
                let accepted = arms.iter().map(|arm| self.nodes[*arm].accepts).fold(Types::NONE, Types::or);
                let message = if accepted.meet(Types::of(value)) {
                    format!("fits none of the {} alternatives, got {}", arms.len(), got(value))
                } else {
                    expected(accepted, value)
                };
                self.error(path, false, message);
            }
            _ => self.error(path, true, "fits several alternatives, but must fit exactly one".to_owned()),
        }
    }

    /// Whether a value may fit a schema, by its type and by the tags that tell alternatives apart.
    fn outline_fits(&mut self, at: usize, value: &Value) -> bool {
        // What is too complex is reported where the value is checked.
        let Some(left) = self.left.checked_sub(1) else { return true };
        self.left = left;
        let (nodes, node) = (self.nodes, &self.nodes[at]);
        let allows = |node: &SchemaNode, value: &Value| {
            node.allowed.as_ref().is_none_or(|allowed| allowed.iter().any(|one| same(one, value)))
        };
        let tag_fits =
            |(name, value): (&String, &Value)| node.properties.get(name).is_none_or(|tag| allows(&nodes[*tag], value));
        node.accepts.meet(Types::of(value))
            && allows(node, value)
            && value.as_object().is_none_or(|members| members.iter().all(tag_fits))
            && node.all_of.iter().all(|part| self.outline_fits(*part, value))
    }

    /// What is wrong with a value that need not fit. It does not change.
    fn attempt(&mut self, at: usize, value: &mut Value, path: Path<'_>) -> Vec<ArgumentError> {
        let mut attempt = Visit { errors: Vec::new(), may_change: false, ..*self };
        attempt.visit(at, value, path);
        self.left = attempt.left;
        attempt.errors
    }
}

/// The member that tells these alternatives apart and has none of their values, and these values.
fn unknown_tag<'v>(nodes: &[SchemaNode], arms: &[usize], value: &'v Value) -> Option<(&'v str, Vec<Value>)> {
    value.as_object()?.iter().find_map(|(name, tag)| {
        let tags = arms.iter().map(|arm| nodes[*nodes[*arm].properties.get(name)?].allowed.clone());
        let tags = tags.collect::<Option<Vec<_>>>()?.concat();
        (!tags.iter().any(|one| same(one, tag))).then_some((name.as_str(), tags))
    })
}

fn expected(types: Types, value: &Value) -> String {
    format!("expected {types}, got {}", got(value))
}

/// "`slow`, `fast`".
fn listed(values: &[Value]) -> String {
    let shown = |value: &Value| value.as_str().map_or_else(|| format!("`{value}`"), |text| format!("`{text}`"));
    match values {
        [first, second] => format!("{} or {}", shown(first), shown(second)),
        [only] => shown(only),
        all => format!("one of {}", all.iter().map(shown).collect::<Vec<_>>().join(", ")),
    }
}

/// Whether two values are the same to JSON Schema, to which `1.0` is `1`.
fn same(a: &Value, b: &Value) -> bool {
    a == b || (a.is_number() && a.as_f64() == b.as_f64())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn errors(schema: Value, value: Value) -> Vec<String> {
        let check = SchemaCheck::new(&json!({ "properties": { "x": schema } }), &[]);
        assert_eq!(check.problems(), [] as [&str; 0]);
        let arguments = Map::from_iter([("x".to_owned(), value)]);
        let wrong = check.check(arguments).err().unwrap_or_default();
        wrong.0.into_iter().map(|error| format!("{}: {}", error.field, error.message)).collect()
    }

    #[test]
    fn each_keyword_says_what_is_wrong() {
        let tagged = |kind: &str, rest: Value| json!({ "properties": { "kind": { "const": kind }, "n": rest } });
        let shapes =
            json!({ "anyOf": [tagged("a", json!({ "maximum": 1 })), tagged("b", json!({ "type": "string" }))] });
        for (schema, value, expected) in [
            (json!({ "type": ["string", "null"] }), json!(1), "x: expected a string or null, got the integer `1`"),
            (
                json!({ "type": ["string", "number", "null"] }),
                json!([]),
                "x: expected a string, a number or null, got an array",
            ),
            (json!({ "enum": ["a", 1] }), json!("b"), "x: expected `a` or `1`, got the string \"b\""),
            (json!({ "enum": ["a", "b", "c"] }), json!(1), "x: expected one of `a`, `b`, `c`, got the integer `1`"),
            (json!({ "not": { "const": 0 } }), json!(0), "x: must not be `0`"),
            (json!({ "not": { "type": "string" } }), json!("a"), "x: is excluded by the schema, got the string \"a\""),
            (json!({ "minProperties": 2 }), json!({ "a": 1 }), "x: must have at least 2 members, got 1"),
            (
                json!({ "propertyNames": { "maxLength": 1 } }),
                json!({ "ab": 1 }),
                "x.ab: must be at most 1 character long, got 2",
            ),
            (
                json!({ "patternProperties": { "^a": { "minimum": 1 } } }),
                json!({ "ab": 0 }),
                "x.ab: must be at least 1, got 0",
            ),
            (
                json!({ "additionalProperties": { "type": "integer" } }),
                json!({ "a": "b" }),
                "x.a: expected an integer, got the string \"b\"",
            ),
            (
                json!({ "properties": { "a": {} }, "additionalProperties": false }),
                json!({ "b": 1 }),
                "x.b: unknown property; the properties are `a`",
            ),
            (
                json!({ "prefixItems": [{ "type": "string" }], "items": false }),
                json!(["a", 1]),
                "x[1]: expected nothing, got the integer `1`",
            ),
            (
                json!({ "oneOf": [{ "minimum": 1 }, { "maximum": 3 }] }),
                json!(2),
                "x: fits several alternatives, but must fit exactly one",
            ),
            (
                json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] }),
                json!(2),
                "x: expected a string or null, got the integer `2`",
            ),
            (
                json!({ "allOf": [{ "minimum": 1 }, { "multipleOf": 0.5 }] }),
                json!(1.25),
                "x: must be a multiple of 0.5, got 1.25",
            ),
            // The tag decides which alternative is meant.
            (shapes.clone(), json!({ "kind": "a", "n": 2 }), "x.n: must be at most 1, got 2"),
            (shapes.clone(), json!({ "kind": "b", "n": 2 }), "x.n: expected a string, got the integer `2`"),
            (shapes, json!({ "kind": "c" }), "x.kind: expected `a` or `b`, got the string \"c\""),
        ] {
            assert_eq!(errors(schema.clone(), value.clone()), [expected], "{schema} {value}");
        }
    }

    /// There are 2 to the power of 64 paths to the last definition.
    #[test]
    fn a_schema_is_compiled_once_however_many_references_lead_to_it() {
        let reference = |at: usize| json!({ "$ref": format!("#/$defs/{at}") });
        let twice = |at: usize| (at.to_string(), json!({ "allOf": [reference(at + 1), reference(at + 1)] }));
        let mut definitions: Map<String, Value> = (0..64).map(twice).collect();
        definitions.insert("64".to_owned(), json!({ "type": "integer" }));
        let either = json!({ "anyOf": [reference(0), { "type": ["integer", "null"] }] });
        let schema = json!({ "properties": { "x": reference(0), "y": either }, "$defs": definitions });
        let check = SchemaCheck::new(&schema, &[]);
        assert_eq!(check.problems(), [] as [&str; 0]);
        for name in ["x", "y"] {
            let errors = check.check(Map::from_iter([(name.to_owned(), json!(1))])).unwrap_err().0;
            assert!(errors.iter().any(|error| error.message == TOO_COMPLEX), "{errors:?}");
        }
    }

    #[test]
    fn a_long_value_is_shortened() {
        for schema in [json!({ "pattern": "^b" }), json!({ "type": "null" }), json!({ "enum": [1] })] {
            assert!(errors(schema, "a".repeat(500).into())[0].len() < 150);
        }
    }

    #[test]
    fn what_a_type_says_is_not_a_rule() {
        let has_rules = |schema: Value| {
            let schema = json!({ "properties": { "x": schema } });
            Arc::new(SchemaCheck::new(&schema, &[&["red", "green"]])).argument("x").has_rules
        };
        for schema in [
            json!({ "type": "integer", "format": "uint8", "minimum": 0, "maximum": 255 }),
            json!({ "type": "integer", "format": "uint64", "minimum": 0 }),
            json!({ "type": "number", "format": "double" }),
            json!({ "type": "string", "enum": ["red", "green"] }),
            json!({ "anyOf": [{ "properties": { "kind": { "const": "a" } } }, { "type": "null" }] }),
            json!({ "type": "array", "items": { "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"] } }),
            json!({ "format": "unknown", "default": 1, "description": "" }),
        ] {
            assert!(!has_rules(schema.clone()), "{schema}");
        }
        for schema in [
            json!({ "type": "integer", "format": "uint8", "minimum": 1, "maximum": 255 }),
            json!({ "type": "integer", "minimum": 0 }),
            json!({ "type": "string", "enum": ["red", "blue"] }),
            json!({ "type": "array", "items": { "properties": { "a": { "maxLength": 1 } } } }),
            json!({ "anyOf": [{ "properties": { "kind": { "const": "a" }, "n": { "maximum": 1 } } }, { "type": "null" }] }),
            json!({ "format": "email" }),
        ] {
            assert!(has_rules(schema.clone()), "{schema}");
        }
    }
}
