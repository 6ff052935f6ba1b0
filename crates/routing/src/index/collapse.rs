//! Near-duplicates: tools that differ in nothing but words such as `v2` or `copy`.

use contextweaver_text::hash::{Hash, of_text};

/// Words that tell versions of one thing apart; so do numbers, and numbers behind a `v`.
const VERSION_WORDS: &[&str] = &["variant", "ver", "version", "copy", "dup", "deprecated", "beta", "alpha"];

/// Fields whose words count: name, namespace, tags, description.
const FIELDS: usize = 4;

/// What a tool has in common with its near-duplicates, and what tells it apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VariantSignature {
    hash: Hash,
    /// Version words left out of the hash.
    pub versions: u32,
    /// Those of its name that are a number, or a `v` and a number, one space between them.
    pub named: Box<str>,
}

impl VariantSignature {
    /// Makes what a snapshot holds; the hash is that of a signature.
    pub fn from_parts(hash: Hash, versions: u32, named: Box<str>) -> Self {
        Self { hash, versions, named }
    }

    /// Returns the state of the hash, for a snapshot.
    pub fn hash(&self) -> Hash {
        self.hash
    }

    /// Begins a text of a field.
    pub fn begin(&mut self, field: usize) {
        if field < FIELDS {
            self.hash.number(field as u64);
        }
    }

    /// Adds a word of a text, with its hash unless it is a version word.
    pub fn add(&mut self, field: usize, word: &str, hash: Option<u64>) {
        if field >= FIELDS {
            return;
        }
        if let Some(hash) = hash {
            return self.hash.number(hash);
        }
        self.versions += 1;
        if field == 0 && tells_apart(word) {
            let space = if self.named.is_empty() { "" } else { " " };
            self.named = [&*self.named, space, word].concat().into();
        }
    }

    /// Returns the hash that near-duplicates have in common.
    pub fn signature(&self) -> [u32; 2] {
        let hash = self.hash.value()[0];
        [(hash >> 32) as u32, hash as u32]
    }

    /// Tells whether the name has one of these version words.
    pub fn is_named(&self, wanted: &[&str]) -> bool {
        !self.named.is_empty() && self.named.split(' ').any(|word| wanted.contains(&word))
    }
}

/// Returns the hash of a word; version words have none.
pub fn word_hash(word: &str) -> Option<u64> {
    let is_version = tells_apart(word) || VERSION_WORDS.contains(&word);
    (!is_version).then(|| of_text(word))
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Tells whether a word is a number, or a `v` and a number: what a query names one of several versions by.
pub fn tells_apart(word: &str) -> bool {
    is_number(word.strip_prefix('v').unwrap_or(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinship(name: &str, description: &str) -> VariantSignature {
        let mut kinship = VariantSignature::default();
        for (field, text) in [(0, name), (3, description), (4, name)] {
            kinship.begin(field);
            for word in text.split(' ') {
                kinship.add(field, word, word_hash(word));
            }
        }
        kinship
    }

    #[test]
    fn version_words_make_no_difference() {
        let plain = kinship("get file", "gets a file");
        for (name, description) in [
            ("get file v2", "gets a file"),
            ("get 12 file", "gets a file version 3"),
            ("copy get file beta", "gets a file"),
        ] {
            assert_eq!(kinship(name, description).signature(), plain.signature(), "{name}");
        }
        for (name, description) in
            [("get", "file gets a file"), ("get files", "gets a file"), ("get file vx", "gets a file"), ("", "")]
        {
            assert_ne!(kinship(name, description).signature(), plain.signature(), "{name}");
        }
        let numbered = kinship("get v2 file v10", "v3");
        assert_eq!((numbered.versions, &*numbered.named), (3, "v2 v10"));
        assert!(numbered.is_named(&["v10"]) && !numbered.is_named(&["v1", "v"]) && !plain.is_named(&["v1"]));
        assert!(kinship("get 80 file", "").is_named(&["80"]) && !kinship("get", "80").is_named(&["80"]));
    }
}
