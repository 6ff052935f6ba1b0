//! Namespaces of tools, and names made fit for ids.

use contextweaver_base::Result;

use super::tool_id::ToolId;

/// The namespace of tools that have none.
pub(super) const NO_NAMESPACE: &str = "mcp";

/// What stands first in names of tools that say what they do, not where they belong.
const VERBS: &[&str] = &[
    "add", "browse", "cancel", "check", "close", "count", "create", "delete", "describe", "download", "edit",
    "execute", "export", "fetch", "find", "get", "import", "insert", "list", "make", "merge", "move", "open", "patch",
    "post", "put", "query", "read", "remove", "rename", "reply", "request", "run", "search", "send", "set", "show",
    "start", "stop", "submit", "sync", "update", "upload", "upsert", "validate", "write",
];

/// Guesses the namespace of a tool: what is before the first `.` or `/`, or the first of three words joined by `_`.
///
/// ```
/// use contextweaver_convert::mcp::infer_namespace;
///
/// assert_eq!(infer_namespace("github.create_issue"), "github");
/// assert_eq!(infer_namespace("slack_send_message"), "slack");
/// assert_eq!(infer_namespace("search"), "mcp");
/// ```
pub fn infer_namespace(name: &str) -> &str {
    guess(name, true)
}

/// Guesses the namespace; unless verbs may be one, a word that only says what the tool does is none.
pub(super) fn guess(name: &str, verbs: bool) -> &str {
    let before = |mark: char| name.split_once(mark).map(|(before, _)| before).filter(|before| !before.is_empty());
    let first = name.split('_').next().filter(|first| name.split('_').count() > 2 && !first.is_empty());
    let first = first.filter(|first| verbs || !VERBS.iter().any(|verb| verb.eq_ignore_ascii_case(first)));
    before('.').or_else(|| before('/')).or(first).unwrap_or(NO_NAMESPACE)
}

/// Returns the part of a tool's name that goes into its id.
pub fn name_part(name: &str) -> &str {
    let after = |mark: char| name.split_once(mark).filter(|(before, after)| !before.is_empty() && !after.is_empty());
    after('.').or_else(|| after('/')).map_or(name, |(_, after)| after)
}

/// Returns an id of any namespace and name, each made fit for the grammar: what it does not know becomes `_`.
pub(super) fn lenient_id(namespace: &str, name: &str, version: Option<String>, hash8: &str) -> Result<String> {
    let version = version.filter(|version| legal(version, 32) == *version);
    let hash8 = version.is_none().then(|| hash8.to_owned());
    ToolId { namespace: legal_namespace(namespace), name: legal_name(name), version, hash8 }.to_text()
}

/// Replaces what the grammar of ids does not know, and cuts.
pub(super) fn legal(text: &str, chars: usize) -> String {
    let known = |ch: char| ch.is_ascii_alphanumeric() || matches!(ch, '_' | '-' | '.');
    text.chars().take(chars).map(|ch| if known(ch) { ch } else { '_' }).collect()
}

pub(super) fn legal_namespace(text: &str) -> String {
    let text = legal(&text.to_lowercase(), 60).replace('.', "_");
    if text.starts_with(|ch: char| ch.is_ascii_lowercase()) { text } else { format!("mcp_{text}") }
}

fn legal_name(text: &str) -> String {
    let text = legal(text, 127);
    if text.starts_with(|ch: char| ch == '_' || ch.is_ascii_alphabetic()) { text } else { format!("_{text}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespaces_are_guessed() {
        for (name, expected) in [
            ("github.create_issue", "github"),
            ("filesystem/read", "filesystem"),
            ("slack_send_message", "slack"),
            ("search_database", "mcp"),
            (".hidden.tool", "mcp"),
            ("a__b", "a"),
            ("_a_b_c", "mcp"),
            ("a_b_", "a"),
            ("a/b.c", "a/b"),
            ("get_all_users", "get"),
            ("", "mcp"),
        ] {
            assert_eq!(infer_namespace(name), expected, "{name}");
        }
        for (name, expected) in [("get_all_users", "mcp"), ("slack_send_message", "slack"), ("get.users", "get")] {
            assert_eq!(guess(name, false), expected, "{name}");
        }
        assert!(VERBS.is_sorted());
    }

    #[test]
    fn every_name_makes_an_id() {
        for name in ["", "2fa", "DATA_EXPORT_v2", "検索", "a/b/c", "a#b@c:d", &"n".repeat(500), "-x", "\n"] {
            let id = lenient_id(name, name, None, "deadbeef").unwrap();
            assert_eq!(ToolId::parse(&id).unwrap().to_text().unwrap(), id);
            assert!(lenient_id(name, name, Some("1.0".into()), "deadbeef").unwrap().ends_with("@1.0"));
            assert!(lenient_id(name, name, Some("1.0\n".into()), "deadbeef").unwrap().ends_with("#deadbeef"));
        }
    }
}
