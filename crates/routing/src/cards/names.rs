//! Names of tools that every provider accepts, and the way back.

use sha2::{Digest, Sha256};

use contextweaver_base::order::SortedMap;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_text::hash::hex;
use contextweaver_text::unicode::{prefix, quote};

/// Characters of a name.
const NAME_CHARS: usize = 64;

/// The names of tools and their ids: different tools have different names of 1 to 64 letters, digits, `_` and `-` that
/// start with a letter or `_`.
///
/// A name is made from the id alone. An id that is a legal name is its own name. One that becomes legal by writing its
/// separators (`. : / # @` and spaces) as `_` is written so. Any other, and any whose written form is that of another
/// tool, ends in eight digits of the hash of its id. So adding a tool renames another in one case only: when the two ids
/// differ in nothing but separators. Made once for a whole catalog, names do not even depend on what is shown of it.
#[derive(Debug, Clone, Default)]
pub struct ToolNames {
    names: SortedMap<String, String>,
    ids: SortedMap<String, String>,
}

impl ToolNames {
    /// Names tools by their ids, whose order does not matter.
    ///
    /// # Examples
    ///
    /// ```
    /// use contextweaver_routing::ToolNames;
    ///
    /// let names = ToolNames::new(["mail.send", "日本"].into_iter());
    /// assert_eq!(names.name_of("mail.send"), Some("mail_send"));
    /// let name = names.name_of("日本").unwrap();
    /// assert!(name.starts_with("tool_"));
    /// assert_eq!(names.resolve(name)?, "日本");
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn new<'a>(ids: impl Iterator<Item = &'a str>) -> Self {
        let mut ids: Vec<&str> = ids.collect();
        contextweaver_base::order::sort_distinct(&mut ids);
        let mut out = Self::default();
        // How many ids are written alike; a legal one has the right to its own form.
        let mut written: SortedMap<String, usize> = SortedMap::new();
        for id in &ids {
            if is_legal(id) {
                out.set(id, (*id).to_owned());
            } else if let Some(form) = written_form(id) {
                *written.get_or_insert(&form, 0) += 1;
            }
        }
        for id in ids {
            if out.names.contains_key(id) {
                continue;
            }
            let form = written_form(id).filter(|form| written.get(form) == Some(&1) && !out.ids.contains_key(form));
            let name = form.unwrap_or_else(|| out.hashed(id));
            out.set(id, name);
        }
        out
    }

    fn set(&mut self, id: &str, name: String) {
        self.ids.insert(name.clone(), id.to_owned());
        self.names.insert(id.to_owned(), name);
    }

    /// Makes a name that ends in digits of the hash, in more of them should the name be taken.
    fn hashed(&self, id: &str) -> String {
        let digits = hex(&Sha256::digest(id.as_bytes()));
        let base = start(id);
        let free = |name: &String| !self.ids.contains_key(name);
        let with = |suffix: &str| format!("{}_{suffix}", prefix(&base, NAME_CHARS - 1 - suffix.len()));
        let mut name = [8, 16, 32, 60].into_iter().map(|count| with(&digits[..count])).find(free);
        // Only ids made to clash get here.
        let mut number = 2;
        while name.is_none() {
            name = Some(with(&number.to_string())).filter(free);
            number += 1;
        }
        name.unwrap_or_default()
    }

    /// Returns the name of a tool.
    pub fn name_of(&self, id: &str) -> Option<&str> {
        self.names.get(id).map(String::as_str)
    }

    /// Returns the tool of a name.
    ///
    /// # Errors
    ///
    /// Fails with `NOT_FOUND`.
    pub fn resolve(&self, name: &str) -> Result<&str> {
        self.ids.get(name).map(String::as_str).ok_or_else(|| unknown_name(name))
    }

    /// Returns every name with its tool, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.ids.iter().map(|(name, id)| (name.as_str(), id.as_str()))
    }
}

pub(super) fn unknown_name(name: &str) -> Error {
    Error::new(ErrorCode::NotFound, format!("no tool was given the name {}", quote(name)))
}

/// Tells whether providers take a character in a name.
pub(super) const fn is_name_char(ch: char) -> bool {
    ch.is_ascii_alphanumeric() || matches!(ch, '_' | '-')
}

fn is_legal(name: &str) -> bool {
    name.len() <= NAME_CHARS
        && name.starts_with(|ch: char| ch.is_ascii_alphabetic() || ch == '_')
        && name.chars().all(is_name_char)
}

/// Writes separators as `_`, where that is enough.
fn written_form(id: &str) -> Option<String> {
    let written: String =
        id.chars().map(|ch| if matches!(ch, '.' | ':' | '/' | '#' | '@' | ' ') { '_' } else { ch }).collect();
    is_legal(&written).then_some(written)
}

/// Returns what of an id a name can start with.
fn start(id: &str) -> String {
    let mut out = String::new();
    for ch in id.chars().take(4 * NAME_CHARS) {
        if is_name_char(ch) {
            out.push(ch);
        } else if !out.is_empty() && !out.ends_with('_') {
            out.push('_');
        }
    }
    out.truncate(out.trim_end_matches('_').len());
    if out.is_empty() {
        return "tool".to_owned();
    }
    if out.starts_with(|ch: char| ch.is_ascii_digit() || ch == '-') { format!("_{out}") } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(ids: &[&str]) -> Vec<String> {
        let names = ToolNames::new(ids.iter().copied());
        ids.iter().map(|id| names.name_of(id).unwrap().to_owned()).collect()
    }

    #[test]
    fn names_are_legal_and_stay() {
        assert_eq!(names(&["billing.invoices.get", "a_b", "mcp:x"]), ["billing_invoices_get", "a_b", "mcp_x"]);
        let clash = names(&["a.b", "a_b", "a/b"]);
        assert_eq!(clash[1], "a_b");
        assert!(clash[0].starts_with("a_b_") && clash[2].starts_with("a_b_") && clash[0] != clash[2]);
        let odd = names(&["", "日本", "1a", "-", "__é__", &"x".repeat(65)]);
        assert!(odd.iter().all(|name| is_legal(name)), "{odd:?}");
        assert!(odd[0].starts_with("tool_") && odd[2].starts_with("_1a_"));
        // A hashed name is the same whatever else there is.
        assert_eq!(names(&["日本", "z", "1a"])[0], odd[1]);
    }

    #[test]
    fn made_clashes_are_resolved() {
        let hashed = names(&["é"]).remove(0);
        let both = names(&["é", &hashed]);
        assert_eq!(both[1], hashed);
        assert!(both[0].len() > hashed.len() && both[0].starts_with("tool_"));
    }
}
