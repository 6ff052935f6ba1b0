//! Names of tools that every provider accepts, and the way back.

use sha2::{Digest, Sha256};

use contextweaver_base::order::{SortedMap, WordSet, sort_by};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::there_are;
use contextweaver_text::hash::hex;
use contextweaver_text::quote::quote;
use contextweaver_text::unicode::prefix;

/// Characters of a name.
const NAME_CHARS: usize = 64;

/// The names of tools for providers, and their ids: different tools have different names of 1 to 64 letters, digits, `_` and
/// `-` that start with a letter or `_`.
///
/// A tool is called by its own name, whose separators (`. : / # @` and spaces) are written as `_`. Where two tools would have
/// one name, or a name is the id of another tool, or cannot be written, the tool is called by its id: as it is, with its
/// separators written so, or with eight digits of its hash, whichever is the first that no other tool has. So adding a tool
/// renames another only when the two have one name, or nothing but separators tells their ids apart. Made once for a whole
/// catalog, names do not even depend on what is shown of it.
#[derive(Debug, Clone, Default)]
pub struct ToolNames {
    names: SortedMap<String, String>,
    ids: SortedMap<String, String>,
    /// Ids by what tools would be called by them, where that is nobody's name: logs may have it.
    by_ids: SortedMap<String, String>,
}

impl ToolNames {
    /// Names tools, given by id and name, whose order does not matter.
    ///
    /// # Examples
    ///
    /// ```
    /// use contextweaver_routing::ToolNames;
    ///
    /// let tools = [("mcp:git/add", "add"), ("git.log", "log"), ("shop.log", "log"), ("x", "日本")];
    /// let names = ToolNames::new(tools.into_iter());
    /// assert_eq!(names.name_of("mcp:git/add"), Some("add"));
    /// assert_eq!(names.name_of("git.log"), Some("git_log"));
    /// assert_eq!(names.name_of("x"), Some("x"));
    /// assert_eq!(names.resolve("git_log")?, "git.log");
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn new<'a>(tools: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let mut tools: Vec<(&str, &str)> = tools.collect();
        sort_by(&mut tools, Ord::cmp);
        tools.dedup_by(|one, other| one.0 == other.0);
        let mut out = Self::default();
        let ids = WordSet::new(tools.iter().map(|(id, _)| (*id).to_owned()).collect());
        let mut written: SortedMap<String, usize> = SortedMap::new();
        for form in tools.iter().filter_map(|(_, name)| written_form(name)) {
            *written.get_or_insert(&form, 0) += 1;
        }
        let mut written_ids: SortedMap<String, usize> = SortedMap::new();
        for form in tools.iter().filter_map(|(id, _)| written_form(id)) {
            *written_ids.get_or_insert(&form, 0) += 1;
        }
        for (id, name) in &tools {
            let is_own = |form: &String| written.get(form) == Some(&1) && (form == id || !ids.contains(form));
            if let Some(form) = written_form(name).filter(is_own) {
                out.set(id, form);
            }
        }
        let rest: Vec<&str> = tools.iter().map(|(id, _)| *id).filter(|id| !out.names.contains_key(*id)).collect();
        let is_one = |form: &str| written_ids.get(form) == Some(&1);
        out.add_by_ids(&rest, &is_one);
        for (id, form) in tools.iter().filter_map(|(id, _)| Some((id, written_form(id)?))) {
            if is_one(&form) && !out.ids.contains_key(&form) {
                out.by_ids.insert(form, (*id).to_owned());
            }
        }
        out
    }

    /// Names tools by their ids; `is_one` tells whether no other id, of all tools, is written so.
    fn add_by_ids(&mut self, ids: &[&str], is_one: &dyn Fn(&str) -> bool) {
        // A legal id has the right to its own form.
        for id in ids.iter().filter(|id| is_legal(id)) {
            if !self.ids.contains_key(*id) {
                self.set(id, (*id).to_owned());
            }
        }
        for id in ids {
            if self.names.contains_key(*id) {
                continue;
            }
            let form = written_form(id).filter(|form| is_one(form) && !self.ids.contains_key(form));
            let name = form.unwrap_or_else(|| self.hashed(id));
            self.set(id, name);
        }
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

    /// Returns the tool of a name; a tool that goes by its own name is also found by what it would be called by its id.
    ///
    /// # Errors
    ///
    /// Fails with `NOT_FOUND`.
    pub fn resolve(&self, name: &str) -> Result<&str> {
        self.find(name)
            .ok_or_else(|| unknown_name(name).hint(there_are(name, "tool", self.ids.keys().map(String::as_str))))
    }

    /// Returns the tool of a name as [`ToolNames::resolve`] does, if there is one.
    pub fn find(&self, name: &str) -> Option<&str> {
        self.ids.get(name).or_else(|| self.by_ids.get(name)).map(String::as_str)
    }

    /// Returns every name with its tool, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> + Clone {
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
        // Without a name of their own.
        let names = ToolNames::new(ids.iter().map(|id| (*id, "")));
        ids.iter().map(|id| names.name_of(id).unwrap().to_owned()).collect()
    }

    #[test]
    fn tools_are_called_by_their_names() {
        let of = |tools: &[(&str, &str)]| {
            let names = ToolNames::new(tools.iter().copied());
            let reversed = ToolNames::new(tools.iter().rev().copied());
            let names_of = |names: &ToolNames| -> Vec<String> {
                tools.iter().map(|(id, _)| names.name_of(id).unwrap().to_owned()).collect()
            };
            assert_eq!(names_of(&names), names_of(&reversed));
            for (id, _) in tools {
                assert_eq!(names.resolve(names.name_of(id).unwrap()).unwrap(), *id);
            }
            names_of(&names)
        };
        assert_eq!(
            of(&[("shop:list", "shop_list_orders"), ("mcp:git_add", "git_add")]),
            ["shop_list_orders", "git_add"]
        );
        assert_eq!(of(&[("contextweaver:drilldown", "drilldown")]), ["drilldown"]);
        assert_eq!(of(&[("mcp:a/search", "search"), ("mcp:b/search", "search")]), ["mcp_a_search", "mcp_b_search"]);
        assert_eq!(of(&[("a", "files.read"), ("b", "files/read")]), ["a", "b"]);
        // A name that is the id of another tool would be taken for that one.
        assert_eq!(of(&[("a", "b"), ("b", "c")]), ["a", "c"]);
        assert_eq!(of(&[("b_c", "x"), ("a", "b.c")]), ["x", "a"]);
        assert_eq!(of(&[("send", "send"), ("x", "")]), ["send", "x"]);
        let names = ToolNames::new([("mail:read#5e6f", "read"), ("a.b", "c"), ("a/b", "d")].into_iter());
        assert_eq!(names.resolve("mail_read_5e6f").unwrap(), "mail:read#5e6f");
        assert!(names.resolve("a_b").is_err());
        // Both go by their ids, of which one is the name of a third.
        assert_eq!(of(&[("x.y", "n"), ("z", "n"), ("w", "x_y")])[2], "x_y");
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
