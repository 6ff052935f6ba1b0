//! Which known name a misspelt one was meant to be.

use contextweaver_text::quote::quote;

/// Longest name that is compared: those of fields are shorter, and the work grows with the square.
const LONGEST: usize = 48;
/// Characters that a name shares with the beginning of a longer one.
const SHORTEST_BEGINNING: usize = 4;

/// Returns the known name that is nearest: the same but for case and what parts its words, one or two typing errors away,
/// or a longer or shorter form. The first of equals; none when no name is near.
///
/// ```
/// use contextweaver_model::json::nearest;
///
/// let known = ["phase", "query", "budget_tokens"];
/// assert_eq!(nearest("budgetTokens", known), Some("budget_tokens"));
/// assert_eq!(nearest("phsae", known), Some("phase"));
/// assert_eq!(nearest("budget", known), Some("budget_tokens"));
/// assert_eq!(nearest("messages", known), None);
/// ```
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = plain(name)?;
    let far =
        |known: &'a str| plain(known).and_then(|plain| distance(&wanted, &plain)).map(|distance| (distance, known));
    // `min_by_key` keeps the first of equals.
    known.into_iter().filter_map(far).min_by_key(|(distance, _)| *distance).map(|(_, known)| known)
}

/// Names that are compared with one that there is not, at most: it may be a model's, and the newest stand last.
const MOST_COMPARED: usize = 2_000;
/// Names that are listed where none is near.
const LISTED: usize = 5;

/// Says what there is in place of a name that there is not: the one that is nearest, or some, and how many there are. `what` names one
/// of them.
///
/// ```
/// use contextweaver_model::json::there_are;
///
/// let known = ["artifact:result:c1", "artifact:result:c2"];
/// assert_eq!(there_are("artifact:result:C1", "artifact", known.into_iter()), "did you mean `artifact:result:c1`? there are 2 artifacts");
/// assert_eq!(there_are("c2", "artifact", known.into_iter()), "did you mean `artifact:result:c2`? there are 2 artifacts");
/// assert_eq!(there_are("log", "artifact", known.into_iter()), "there are 2 artifacts: `artifact:result:c1`, `artifact:result:c2`");
/// assert_eq!(there_are("log", "artifact", [].into_iter()), "there is no artifact");
/// ```
pub fn there_are<'a>(name: &str, what: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    let count = known.clone().count();
    let recent = known.clone().skip(count.saturating_sub(MOST_COMPARED));
    let part = |known: &&str| known.strip_suffix(name).is_some_and(|before| before.ends_with([':', '/', '.']));
    let meant = nearest(name, recent.clone()).or_else(|| recent.clone().find(part));
    let total = match count {
        0 => return format!("there is no {what}"),
        1 => format!("there is one {what}"),
        _ => format!("there are {count} {what}s"),
    };
    if let Some(meant) = meant {
        return format!("did you mean {}? {total}", quote(meant));
    }
    let listed: Vec<String> = known.take(LISTED).map(quote).collect();
    format!("{total}{} {}", if count > LISTED { ", such as" } else { ":" }, listed.join(", "))
}

/// Returns the letters and digits of a name in lower case; none of one that is too long or has none.
fn plain(name: &str) -> Option<Vec<char>> {
    if name.len() > LONGEST {
        return None;
    }
    let letters: Vec<char> = name.chars().filter(|ch| ch.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    (!letters.is_empty()).then_some(letters)
}

/// Returns how far two names are apart, where that is near: typing errors, or more for what one only begins with.
fn distance(a: &[char], b: &[char]) -> Option<usize> {
    let shorter = a.len().min(b.len());
    let allowed = match shorter {
        0..3 => 0,
        3..6 => 1,
        _ => 2,
    };
    let errors = typing_errors(a, b);
    if errors <= allowed {
        return Some(errors);
    }
    let is_form = shorter >= SHORTEST_BEGINNING && (a.starts_with(b) || b.starts_with(a));
    is_form.then_some(LONGEST + a.len().abs_diff(b.len()))
}

/// Counts characters that are missing, too many, wrong, or swapped with their neighbour.
fn typing_errors(a: &[char], b: &[char]) -> usize {
    let mut rows = [Vec::new(), (0..=b.len()).collect::<Vec<usize>>(), vec![0; b.len() + 1]];
    for (i, x) in a.iter().enumerate() {
        let [before, above, row] = &mut rows;
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let mut least = (above[j] + usize::from(x != y)).min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                least = least.min(before[j - 1] + 1);
            }
            row[j + 1] = least;
        }
        rows.rotate_left(1);
        rows[2].resize(b.len() + 1, 0);
    }
    rows[1][b.len()]
}

#[cfg(test)]
mod tests {
    use super::{LISTED, MOST_COMPARED, nearest, there_are};

    #[test]
    fn what_is_near_is_found_and_nothing_else() {
        let known = ["phase", "query", "query_tags", "hints", "header", "footer", "budget_tokens", "pin", "explain"];
        for (name, wanted) in [
            ("phases", Some("phase")),
            ("Phase", Some("phase")),
            ("qeury", Some("query")),
            ("queryTags", Some("query_tags")),
            ("query-tags", Some("query_tags")),
            ("tags", None),
            ("budget", Some("budget_tokens")),
            ("budget_tokns", Some("budget_tokens")),
            ("pins", Some("pin")),
            ("pn", None),
            ("heather", Some("header")),
            ("headers", Some("header")),
            ("", None),
            ("___", None),
            ("x", None),
            ("ghp_s3Kq9ZtWx7Lm2Vb8Rn4Yc6Hd1Jf5Pg0TaUeQ", None),
        ] {
            assert_eq!(nearest(name, known), wanted, "{name}");
        }
        assert_eq!(nearest(&"p".repeat(1 << 20), known), None);
        assert_eq!(nearest("phase", []), None);
    }

    #[test]
    fn of_many_some_are_listed_and_the_newest_compared() {
        let names: Vec<String> = (0..MOST_COMPARED + 10).map(|at| format!("item number {at:05}")).collect();
        let known = names.iter().map(String::as_str);
        let said = there_are("zzz", "item", known.clone());
        assert_eq!(said.matches('`').count(), 2 * LISTED);
        assert!(said.starts_with("there are 2010 items, such as `item number 00000`"), "{said}");
        assert!(there_are("item number 02009", "item", known.clone()).starts_with("did you mean `item number 02009`?"));
        assert_eq!(there_are("x", "item", ["only"].into_iter()), "there is one item: `only`");
        assert_eq!(there_are("c1", "artifact", ["xc1"].into_iter()), "there is one artifact: `xc1`");
    }
}
