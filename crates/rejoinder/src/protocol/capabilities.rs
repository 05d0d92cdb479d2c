//! What a client says that it can do: every request of the stateless era says it anew.

use crate::model::{
    ClientCapabilities, ElicitationCapability, FormElicitationCapability, RootsCapabilities, SamplingCapability,
    UrlElicitationCapability,
};
use serde_json::Map;

use super::scan::{Scan, Syntax};

/// What was said, in few bytes: it passes through many hands.
#[derive(Debug, PartialEq)]
pub(crate) enum Capabilities {
    Plain(Plain),
    Other(Box<ClientCapabilities>),
}

/// Which capabilities are there, where nothing else is said about them, as nearly always.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Plain {
    elicitation: bool,
    form: bool,
    url: bool,
    sampling: bool,
    tools: bool,
    context: bool,
    roots: bool,
}

impl From<Capabilities> for ClientCapabilities {
    fn from(capabilities: Capabilities) -> Self {
        let plain = match capabilities {
            Capabilities::Plain(plain) => plain,
            Capabilities::Other(other) => return *other,
        };
        let mut declared = Self::default();
        if plain.elicitation {
            let can = declared.elicitation.insert(ElicitationCapability::default());
            can.form = plain.form.then(FormElicitationCapability::default);
            can.url = plain.url.then(UrlElicitationCapability::default);
        }
        if plain.sampling {
            let can = declared.sampling.insert(SamplingCapability::default());
            can.tools = plain.tools.then(Map::new);
            can.context = plain.context.then(Map::new);
        }
        declared.roots = plain.roots.then(RootsCapabilities::default);
        declared
    }
}

/// Reads an object of capabilities; `None` if the next value is none.
pub(super) fn capabilities(scan: &mut Scan<'_>) -> Result<Option<Capabilities>, Syntax> {
    scan.peek();
    let start = scan.clone();
    if let Some(plain) = plain(scan) {
        return Ok(Some(Capabilities::Plain(plain)));
    }
    *scan = start;
    let raw = scan.raw()?;
    // An array would do for serde.
    let other = raw.starts_with('{').then(|| serde_json::from_str(raw).ok()).flatten();
    Ok(other.map(Capabilities::Other))
}

/// Capabilities about which nothing is said but that they are there; `None` for any other.
///
/// Doubled ones are left to serde, too, which refuses them.
fn plain(scan: &mut Scan<'_>) -> Option<Plain> {
    let mut can = Plain::default();
    members(scan, |name, scan| match name {
        "elicitation" if !can.elicitation => {
            can.elicitation = true;
            members(scan, |name, scan| match name {
                "form" if !can.form => empty(scan, &mut can.form),
                "url" if !can.url => empty(scan, &mut can.url),
                _ => None,
            })
        }
        "sampling" if !can.sampling => {
            can.sampling = true;
            members(scan, |name, scan| match name {
                "tools" if !can.tools => empty(scan, &mut can.tools),
                "context" if !can.context => empty(scan, &mut can.context),
                _ => None,
            })
        }
        "roots" if !can.roots => empty(scan, &mut can.roots),
        _ => None,
    })?;
    Some(can)
}

/// Hands every member of an object to `each`, which passes over its value or gives up.
fn members<'a>(scan: &mut Scan<'a>, mut each: impl FnMut(&str, &mut Scan<'a>) -> Option<()>) -> Option<()> {
    let mut first = true;
    if !scan.open() {
        return None;
    }
    while let Some(name) = scan.key(&mut first).ok()? {
        each(&name, scan)?;
    }
    Some(())
}

/// Passes over an object without members, and notes that it is there.
fn empty(scan: &mut Scan<'_>, there: &mut bool) -> Option<()> {
    *there = true;
    members(scan, |_, _| None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_without_serde_is_what_serde_reads() {
        for raw in [
            "{}",
            r#"{"elicitation":{}}"#,
            r#"{"elicitation":{"form":{}}}"#,
            r#" { "elicitation" : { "url" : { } , "form" : {} } , "roots" : {} } "#,
            r#"{"sampling":{},"roots":{}}"#,
            r#"{"sampling":{"tools":{},"context":{}},"elicitation":{"form":{},"url":{}}}"#,
        ] {
            let expected: ClientCapabilities = serde_json::from_str(raw).expect("capabilities");
            let plain = plain(&mut Scan::new(raw)).expect("nothing else is said");
            assert_eq!(ClientCapabilities::from(Capabilities::Plain(plain)), expected, "{raw}");
        }
    }

    #[test]
    fn whatever_else_there_is_is_left_to_serde() {
        for (raw, good) in [
            (r#"{"elicitation":{"form":{"schemaValidation":true}}}"#, true),
            (r#"{"elicitation":null}"#, true),
            (r#"{"roots":{"listChanged":true}}"#, true),
            (r#"{"sampling":{"tools":{"x":1}}}"#, true),
            (r#"{"experimental":{"a":{}},"extensions":{"b/c":{}}}"#, true),
            (r#"{"newer":5}"#, true),
            (r#"{"elicitation":{},"elicitation":{}}"#, false),
            (r#"{"elicitation":{"form":{},"form":{}}}"#, false),
            (r#"{"elicitation":5}"#, false),
            ("[]", false),
            ("5", false),
        ] {
            assert_eq!(plain(&mut Scan::new(raw)), None, "{raw}");
            assert_eq!(capabilities(&mut Scan::new(raw)).map(|read| read.is_some()), Ok(good), "{raw}");
        }
    }

    #[test]
    fn what_is_no_json_is_refused() {
        for raw in [r#"{"roots":{}"#, r#"{"roots":{},}"#, r#"{"roots"}"#, "{", ""] {
            assert_eq!(capabilities(&mut Scan::new(raw)), Err(Syntax), "{raw}");
        }
    }
}
