//! Lists, as bytes made once.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use bytes::Bytes;
use serde::Serialize;
use serde_json::value::RawValue;

use super::CacheHints;

/// The pages of one list, each the whole `result` object of its reply.
#[derive(Debug, Default, Clone)]
pub(super) struct Pages(Vec<(String, Bytes)>);

/// A cursor that this list did not give out, or whose item is gone.
#[derive(Debug)]
pub(crate) struct BadCursor;

/// How the pages of a list are made.
pub(super) struct Paging<'a> {
    /// The name of the list in the result: `tools`, `prompts`, ..
    pub(super) field: &'static str,
    pub(super) size: usize,
    pub(super) hints: CacheHints,
    /// The server's own record, for `_meta`.
    pub(super) server: &'a RawValue,
}

impl Paging<'_> {
    /// Renders the list. A page starts after the item its cursor names, so that a page stays valid while items
    /// elsewhere come and go.
    pub(super) fn render<'a, R: Serialize>(&self, items: impl IntoIterator<Item = (&'a str, R)>) -> Pages {
        let items: Vec<(&str, R)> = items.into_iter().collect();
        let mut pages = Vec::new();
        let mut cursor = String::new();
        let mut chunks = items.chunks(self.size.max(1)).peekable();
        loop {
            let chunk = chunks.next().unwrap_or_default();
            let next = chunks.peek().and(chunk.last()).map(|(name, _)| encode(name));
            let records: Vec<&R> = chunk.iter().map(|(_, record)| record).collect();
            pages.push((cursor, self.page(&records, next.as_deref())));
            match next {
                Some(next) => cursor = next,
                None => return Pages(pages),
            }
        }
    }

    fn page<R: Serialize>(&self, records: &[&R], next: Option<&str>) -> Bytes {
        let list = serde_json::to_string(records).expect("records have string keys and serialise");
        let next = next.map(|next| format!(",\"nextCursor\":\"{next}\"")).unwrap_or_default();
        let scope = serde_json::to_string(&self.hints.scope).expect("a plain enum serialises");
        format!(
            "{{\"resultType\":\"complete\",\"{}\":{list}{next},\"ttlMs\":{},\"cacheScope\":{scope},\
             \"_meta\":{{\"io.modelcontextprotocol/serverInfo\":{}}}}}",
            self.field, self.hints.ttl_ms, self.server
        )
        .into()
    }
}

impl Pages {
    /// The page behind a cursor; the first one without.
    pub(super) fn get(&self, cursor: Option<&str>) -> Result<Bytes, BadCursor> {
        let cursor = match cursor {
            Some("") => return Err(BadCursor),
            cursor => cursor.unwrap_or_default(),
        };
        self.0.iter().find(|(start, _)| start == cursor).map(|(_, page)| page.clone()).ok_or(BadCursor)
    }
}

/// The items after a cursor, `size` of them, and the cursor of the rest: for replies that are not kept as bytes.
pub(super) fn slice<'a, T>(
    items: impl ExactSizeIterator<Item = (&'a str, T)>,
    cursor: Option<&str>,
    size: usize,
) -> Result<(Vec<T>, Option<String>), BadCursor> {
    let mut items = items.peekable();
    if let Some(cursor) = cursor {
        let after = decode(cursor).ok_or(BadCursor)?;
        if !items.by_ref().any(|(name, _)| name == after) {
            return Err(BadCursor);
        }
    }
    let (mut taken, mut last) = (Vec::new(), "");
    while taken.len() < size.max(1) {
        let Some((name, item)) = items.next() else { return Ok((taken, None)) };
        last = name;
        taken.push(item);
    }
    let next = items.peek().map(|_| encode(last));
    Ok((taken, next))
}

fn encode(name: &str) -> String {
    URL_SAFE_NO_PAD.encode(name)
}

fn decode(cursor: &str) -> Option<String> {
    String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()
}
