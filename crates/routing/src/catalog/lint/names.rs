//! Names that providers refuse or that are mistaken for others.

use super::super::finding::CatalogFinding;
use super::place::ToolFindings;
use contextweaver_base::order::SortedMap;
use contextweaver_model::SelectableItem;
use contextweaver_text::unicode::is_invisible;

/// Letters of other scripts that look like a Latin one, and that one.
const LOOKALIKES: &str = "аaеeоoрpсcуyхxіiјjѕsһhԁdԛqԝwкkмmтtвbнhгrοoαaνvρpιiκkτtυuχxеeɡgıiℓlսuօoոnհhցg";

/// Latin letters with marks from U+00E0 on, without them.
const BARE: &str = "aaaaaaæceeeeiiiiðnooooo÷ouuuuyþy";

fn is_allowed(ch: char) -> bool {
    ch.is_ascii_alphanumeric() || matches!(ch, '_' | '-')
}

/// Looks at the name of one tool.
pub(super) fn check(item: &SelectableItem, max_chars: usize, found: &mut ToolFindings) {
    let chars = item.name.chars().count();
    if chars > max_chars {
        found.push(CatalogFinding::new("name-too-long", &item.id, "/name").evidence(&format!("{chars} characters")));
    }
    if !item.name.chars().all(is_allowed) || item.name.is_empty() {
        found.push(CatalogFinding::new("name-characters", &item.id, "/name").evidence(&item.name));
    }
    let mixed = item.name.chars().any(|ch| !ch.is_ascii() && lookalike(ch).is_some());
    if mixed && item.name.chars().any(|ch| ch.is_ascii_alphabetic()) {
        let finding = CatalogFinding::new("name-confusable", &item.id, "/name");
        found.push(finding.message("the name mixes letters of scripts that look alike").evidence(&item.name));
    }
}

fn lookalike(ch: char) -> Option<char> {
    let mut pairs = LOOKALIKES.chars();
    std::iter::from_fn(|| Some((pairs.next()?, pairs.next()?))).find(|(known, _)| *known == ch).map(|(_, latin)| latin)
}

/// Returns what a name looks like: in lower case, without marks and what does not show, in Latin letters.
fn looks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for ch in text.chars().flat_map(char::to_lowercase) {
        match ch {
            'a'..='z' | '0'..='9' | '_' | '-' => out.push(ch),
            '\u{300}'..='\u{36f}' => {}
            _ if is_invisible(ch) => {}
            '\u{e0}'..='\u{ff}' => out.extend(BARE.chars().nth(ch as usize - 0xe0)),
            '\u{ff01}'..='\u{ff5e}' => out.extend(char::from_u32(ch as u32 - 0xfee0).map(|ch| ch.to_ascii_lowercase())),
            _ => out.push(lookalike(ch).unwrap_or(ch)),
        }
    }
    out
}

/// Finds names, and ids, that are equal, look equal or become equal where providers allow few characters.
pub(super) fn compare(items: &[&SelectableItem], max_chars: usize, found: &mut Vec<CatalogFinding>) {
    // The first tool with each text, as it was written.
    let mut seen: [SortedMap<String, (&str, &str)>; 4] = std::array::from_fn(|_| SortedMap::new());
    for item in items {
        let sanitised = item.name.chars().take(max_chars).map(|ch| if is_allowed(ch) { ch } else { '_' }).collect();
        let cases = [
            ("name-collision", "/name", &item.name, item.name.clone()),
            ("name-collision-sanitised", "/name", &item.name, sanitised),
            ("name-confusable", "/name", &item.name, looks(&item.name)),
            ("name-confusable", "/id", &item.id, looks(&item.id)),
        ];
        for ((code, path, written, key), seen) in cases.into_iter().zip(&mut seen) {
            let (first, other) = *seen.get_or_insert(&key, (&item.id, written));
            let same_text = other == written;
            // Names in other case are near, not confusable.
            let only_case = code == "name-confusable" && other.is_ascii() && written.is_ascii();
            if first != item.id && same_text == (code == "name-collision") && !only_case {
                found.push(
                    CatalogFinding::new(code, &item.id, path).evidence(&format!("{written} / {other} of {first}")),
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twins_look_the_same() {
        assert_eq!(LOOKALIKES.chars().count() % 2, 0);
        assert_eq!(BARE.chars().count(), 32);
        for twin in ["sеаrch", "se\u{301}arch", "séarch", "ｓｅａｒｃｈ", "SEARCH", "se\u{200b}arch"] {
            assert_eq!(looks(twin), "search", "{twin}");
        }
    }
}
