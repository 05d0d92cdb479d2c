//! The name that was probably meant.

/// Names are the client's, so there is a limit to what is done about them.
const LONGEST_NAME: usize = 128;
const MOST_COMPARED: usize = 1000;
/// More characters than this, and it is another name.
const FARTHEST: usize = 3;

/// The one of `known` that is nearest to `name`, unless all are far off.
pub(super) fn similar<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > LONGEST_NAME {
        return None;
    }
    let name: Vec<char> = name.chars().collect();
    // A quarter of it may be wrong, but never all of it.
    let most = (1 + name.len() / 4).min(FARTHEST).min(name.len().checked_sub(1)?);
    let distances = known.take(MOST_COMPARED).filter_map(|known| Some((distance(&name, known, most)?, known)));
    distances.min_by_key(|(distance, _)| *distance).map(|(_, known)| known)
}

/// The number of characters to change, add or leave out, if it is at most that.
fn distance(a: &[char], b: &str, most: usize) -> Option<usize> {
    let b: Vec<char> = b.chars().take(LONGEST_NAME + 1).collect();
    if a.len().abs_diff(b.len()) > most {
        return None;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        let mut least = row[0];
        for (j, to) in b.iter().enumerate() {
            let change = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
            least = least.min(row[j + 1]);
        }
        if least > most {
            return None;
        }
    }
    Some(row[b.len()]).filter(|distance| *distance <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found_unless_all_are_far_off() {
        let known = ["add", "delete_folder", "delete_file", "x"];
        for (name, found) in [
            ("ad", Some("add")),
            ("Add", Some("add")),
            ("delete_foldr", Some("delete_folder")),
            ("delete-file", Some("delete_file")),
            ("delete_everything", None),
            ("y", None),
            ("", None),
            ("subtract", None),
        ] {
            assert_eq!(similar(name, known.into_iter()), found, "{name}");
        }
    }

    #[test]
    fn there_is_a_limit_to_what_is_compared() {
        let long = "x".repeat(LONGEST_NAME);
        assert_eq!(similar(&long, [&*format!("{long}y")].into_iter()), Some(&*format!("{long}y")));
        assert_eq!(similar(&format!("{long}x"), [&*long].into_iter()), None);
        let far = std::iter::repeat_n("other", MOST_COMPARED).chain(["add"]);
        assert_eq!(similar("ad", far), None);
    }
}
