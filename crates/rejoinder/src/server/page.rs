//! Lists, as bytes made once.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use bytes::Bytes;
use serde::Serialize;
use serde_json::value::RawValue;

use super::{CacheHints, List, Options};

/// The key of the `_meta` of every result under which the server says who it is.
pub(crate) const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// The pages of one list, each the whole `result` object of its reply.
#[derive(Debug, Default, Clone)]
pub(super) struct Pages(Vec<(String, Bytes)>);

/// A cursor that this list did not give out, or whose item is gone: nobody knows where in the list it was.
#[derive(Debug)]
pub(crate) struct BadCursor;

/// How the pages of a list are made.
pub(super) struct Paging<'a> {
    /// The name of the list in the result.
    field: &'static str,
    size: usize,
    hints: CacheHints,
    /// The server's own record, for `_meta`.
    server: &'a RawValue,
}

impl<'a> Paging<'a> {
    pub(super) fn new(list: List, options: &Options, server: &'a RawValue) -> Self {
        let field = match list {
            List::Tools => "tools",
            List::Prompts => "prompts",
            List::Resources => "resources",
            List::Templates => "resourceTemplates",
        };
        Self { field, size: options.page_size, hints: options.list_hints, server }
    }
}

impl Paging<'_> {
    /// Renders the list. A page starts after the item its cursor names, so that a cursor stays valid while other items
    /// come and go.
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

    /// Renders the page behind a cursor that no page of the list begins with any more, because items before it have come
    /// or gone.
    pub(super) fn render_after<'a, R: Serialize>(
        &self,
        items: impl IntoIterator<Item = (&'a str, R)>,
        cursor: &str,
    ) -> Result<Bytes, BadCursor> {
        let (records, next) = slice(items.into_iter(), Some(cursor), self.size)?;
        Ok(self.page(&records.iter().collect::<Vec<_>>(), next.as_deref()))
    }

    fn page<R: Serialize>(&self, records: &[&R], next: Option<&str>) -> Bytes {
        let list = serde_json::to_string(records).expect("records have string keys and serialise");
        let next = next.map(|next| format!(",\"nextCursor\":\"{next}\"")).unwrap_or_default();
        let scope = serde_json::to_string(&self.hints.scope).expect("a plain enum serialises");
        format!(
            "{{\"resultType\":\"complete\",\"{}\":{list}{next},\"ttlMs\":{},\"cacheScope\":{scope},\
             \"_meta\":{{\"{SERVER_INFO}\":{}}}}}",
            self.field, self.hints.ttl_ms, self.server
        )
        .into()
    }
}

impl Pages {
    /// The page behind a cursor, if one begins there; the first one without.
    pub(super) fn get(&self, cursor: Option<&str>) -> Option<Bytes> {
        let cursor = match cursor {
            Some("") => return None,
            cursor => cursor.unwrap_or_default(),
        };
        self.0.iter().find(|(start, _)| start == cursor).map(|(_, page)| page.clone())
    }
}

/// The items after a cursor, `size` of them, and the cursor of the rest: for replies that are not kept as bytes.
pub(super) fn slice<'a, T>(
    items: impl Iterator<Item = (&'a str, T)>,
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
