//! Lists, rendered once for each change.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use bytes::Bytes;
use serde::Serialize;

/// The members of a list's result that both eras share, as JSON without braces: the items and the cursor.
pub(crate) type Page = Bytes;

/// The pages of one list, each under the cursor that leads to it.
#[derive(Debug, Default, Clone)]
pub(super) struct Pages(Vec<(String, Page)>);

impl Pages {
    /// Renders a list. A page starts after the item that its cursor names, so that a cursor stays valid while other items
    /// are added and removed.
    pub(super) fn render<'a, R: Serialize>(
        field: &str,
        items: impl IntoIterator<Item = (&'a str, R)>,
        size: usize,
    ) -> Self {
        let mut items = items.into_iter().peekable();
        let (mut pages, mut cursor) = (Vec::new(), String::new());
        loop {
            let (page, next) = page(field, &mut items, size);
            pages.push((cursor, page));
            match next {
                Some(next) => cursor = next,
                None => return Self(pages),
            }
        }
    }

    /// Renders the page after a cursor at which no kept page begins, because items before it were added or removed;
    /// `None` if the cursor names no item.
    pub(super) fn render_after<'a, R: Serialize>(
        field: &str,
        items: impl IntoIterator<Item = (&'a str, R)>,
        cursor: &str,
        size: usize,
    ) -> Option<Page> {
        let after = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
        let mut items = items.into_iter();
        items.by_ref().find(|(name, _)| *name == after)?;
        Some(page(field, &mut items.peekable(), size).0)
    }

    /// The page after a cursor, if a kept one begins there; the first one without.
    pub(super) fn get(&self, cursor: Option<&str>) -> Option<Page> {
        let cursor = match cursor {
            Some("") => return None,
            cursor => cursor.unwrap_or_default(),
        };
        self.0.iter().find(|(start, _)| start == cursor).map(|(_, page)| page.clone())
    }
}

/// The next page, and the cursor of the one after it.
fn page<'a, R: Serialize>(
    field: &str,
    items: &mut std::iter::Peekable<impl Iterator<Item = (&'a str, R)>>,
    size: usize,
) -> (Page, Option<String>) {
    let (mut records, mut last) = (Vec::new(), "");
    for (name, record) in items.by_ref().take(size.max(1)) {
        last = name;
        records.push(record);
    }
    let records = serde_json::to_string(&records).expect("records have string keys and serialise");
    match items.peek() {
        None => (format!("\"{field}\":{records}").into(), None),
        Some(_) => {
            let next = URL_SAFE_NO_PAD.encode(last);
            (format!("\"{field}\":{records},\"nextCursor\":\"{next}\"").into(), Some(next))
        }
    }
}
