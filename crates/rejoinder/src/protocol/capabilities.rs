//! What a client says that it can do: every request of the stateless era says it anew.

use rejoinder_core::model::{
    ClientCapabilities, ElicitationCapability, FormElicitationCapability, RootsCapabilities, SamplingCapability,
    UrlElicitationCapability,
};
use serde_json::Map;

use super::scan::{Scan, Syntax};

/// Reads an object of capabilities; `None` if the next value is none.
pub(super) fn capabilities(scan: &mut Scan<'_>) -> Result<Option<ClientCapabilities>, Syntax> {
    scan.peek();
    let start = scan.clone();
    if let Some(declared) = plain(scan) {
        return Ok(Some(declared));
    }
    *scan = start;
    let raw = scan.raw()?;
    // An array would do for serde.
    Ok(raw.starts_with('{').then(|| serde_json::from_str(raw).ok()).flatten())
}

/// Capabilities about which nothing is said but that they are there, as nearly all are; `None` for any other.
///
/// Doubled ones are left to serde, too, which refuses them.
fn plain(scan: &mut Scan<'_>) -> Option<ClientCapabilities> {
    let mut declared = ClientCapabilities::default();
    members(scan, |name, scan| match name {
        "elicitation" if declared.elicitation.is_none() => {
            let mut can = ElicitationCapability::default();
            members(scan, |name, scan| match name {
                "form" if can.form.is_none() => {
                    empty(scan).map(|()| can.form = Some(FormElicitationCapability::default()))
                }
                "url" if can.url.is_none() => empty(scan).map(|()| can.url = Some(UrlElicitationCapability::default())),
                _ => None,
            })?;
            declared.elicitation = Some(can);
            Some(())
        }
        "sampling" if declared.sampling.is_none() => {
            let mut can = SamplingCapability::default();
            members(scan, |name, scan| match name {
                "tools" if can.tools.is_none() => empty(scan).map(|()| can.tools = Some(Map::new())),
                "context" if can.context.is_none() => empty(scan).map(|()| can.context = Some(Map::new())),
                _ => None,
            })?;
            declared.sampling = Some(can);
            Some(())
        }
        "roots" if declared.roots.is_none() => {
            empty(scan).map(|()| declared.roots = Some(RootsCapabilities::default()))
        }
        _ => None,
    })?;
    Some(declared)
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

fn empty(scan: &mut Scan<'_>) -> Option<()> {
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
            assert_eq!(plain(&mut Scan::new(raw)), Some(expected), "{raw}");
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
