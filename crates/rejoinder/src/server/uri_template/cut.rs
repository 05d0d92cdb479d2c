use super::{Part, Reach};

/// Where each part ends, if the text is made of them; a variable takes as much as leaves room for the rest.
///
/// From the last part to the first it finds where each one may begin, in one pass over the text for each part, so
/// that no text is costly, however many ways there are to cut it.
pub(super) fn cut(parts: &[Part], text: &str) -> Option<Vec<usize>> {
    // Most URIs are another template's, and are told by how they begin.
    if let Some(Part::Literal(first)) = parts.first()
        && !text.starts_with(first.as_str())
    {
        return None;
    }
    // `ends[part][at]`: where the part ends if it begins at `at` and the rest follows.
    let mut ends: Vec<Vec<Option<usize>>> = Vec::with_capacity(parts.len());
    let mut rest_begins = vec![false; text.len() + 1];
    rest_begins[text.len()] = true;
    for part in parts.iter().rev() {
        let found = match part {
            Part::Literal(literal) => literal_ends(literal, text, &rest_begins),
            Part::Variable { reach, .. } => variable_ends(*reach, text, &rest_begins),
        };
        rest_begins = found.iter().map(Option::is_some).collect();
        ends.push(found);
    }
    let mut at = 0;
    ends.into_iter()
        .rev()
        .map(|ends| {
            at = ends[at]?;
            Some(at)
        })
        .collect::<Option<Vec<_>>>()
        .filter(|_| at == text.len())
}

fn literal_ends(literal: &str, text: &str, rest_begins: &[bool]) -> Vec<Option<usize>> {
    let (text, literal) = (text.as_bytes(), literal.as_bytes());
    let end = |at: usize| text[at..].starts_with(literal).then_some(at + literal.len());
    (0..=text.len()).map(|at| end(at).filter(|end| rest_begins[*end])).collect()
}

fn variable_ends(reach: Reach, text: &str, rest_begins: &[bool]) -> Vec<Option<usize>> {
    let query = text.find('?').unwrap_or(text.len());
    let text = text.as_bytes();
    let stops = |at: usize| match text.get(at) {
        _ if reach == Reach::Anything => false,
        Some(b'?' | b'#') => true,
        _ if reach == Reach::Segments => false,
        // In a query it ends with its pair.
        Some(b'&') => at > query,
        byte => byte == Some(&b'/'),
    };
    let mut ends = vec![None; text.len() + 1];
    // The last place that can be reached from here, and where the rest may begin.
    let mut furthest = None;
    for at in (0..=text.len()).rev() {
        ends[at] = furthest.filter(|_| !stops(at));
        if stops(at) {
            furthest = None;
        }
        furthest = furthest.or(rest_begins[at].then_some(at));
    }
    ends
}
