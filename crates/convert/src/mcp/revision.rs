//! The published revisions of the protocol and what differs between them.

use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_text::quote::quote;

/// A published revision of the protocol; a later one is greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Revision {
    /// 2025-06-18.
    V2025_06_18,
    /// 2025-11-25.
    V2025_11_25,
    /// 2026-07-28, the newest.
    #[default]
    V2026_07_28,
}

/// The rules of a revision. A reader takes the shapes of all revisions; a writer keeps to those of one.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools, reason = "a table of what differs")]
pub struct RevisionRules {
    /// The name of the revision: its date.
    pub name: &'static str,
    /// The fields of a tool that only other revisions know.
    pub foreign_tool_fields: &'static [&'static str],
    /// Whether an output schema may describe any value; otherwise only objects.
    pub any_output_schema: bool,
    /// Whether the structured content of a result may be any value; otherwise only an object.
    pub any_structured_content: bool,
    /// Whether a result says with `resultType` if it is complete; without one it is.
    pub result_type: bool,
    /// Names in `_meta` that belong to the protocol although they have no prefix.
    pub meta_names: &'static [&'static str],
    /// Tells whether the labels of a prefix in `_meta` belong to the protocol.
    is_reserved: fn(labels: &[&str]) -> bool,
    /// Codes of errors and what they mean.
    pub error_codes: &'static [(i64, &'static str)],
}

impl Revision {
    /// All revisions, oldest first.
    pub const ALL: &'static [Self] = &[Self::V2025_06_18, Self::V2025_11_25, Self::V2026_07_28];

    /// Returns the name of the revision, which is its date.
    pub const fn name(self) -> &'static str {
        self.rules().name
    }

    /// Reads the name of a revision.
    ///
    /// # Errors
    /// `UNSUPPORTED` for a revision that is not known.
    ///
    /// ```
    /// use contextweaver_convert::mcp::Revision;
    ///
    /// assert_eq!(Revision::parse("2025-11-25")?, Revision::V2025_11_25);
    /// assert!(Revision::parse("2024-11-05").is_err());
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn parse(name: &str) -> Result<Self> {
        Self::ALL.iter().copied().find(|revision| revision.name() == name).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|revision| revision.name()).collect();
            Error::new(ErrorCode::Unsupported, format!("{} is no revision of MCP known here", quote(name)))
                .hint(format!("one of {}", names.join(", ")))
        })
    }

    /// Returns the rules of the revision.
    pub const fn rules(self) -> &'static RevisionRules {
        match self {
            Self::V2025_06_18 => &V2025_06_18,
            Self::V2025_11_25 => &V2025_11_25,
            Self::V2026_07_28 => &V2026_07_28,
        }
    }

    /// Returns what an error code means, if the revision defines it.
    pub fn error_name(self, code: i64) -> Option<&'static str> {
        self.rules().error_codes.iter().find(|(known, _)| *known == code).map(|(_, name)| *name)
    }
}

/// 2025-06-18: titles, structured content, links to resources.
const V2025_06_18: RevisionRules = RevisionRules {
    name: "2025-06-18",
    foreign_tool_fields: &["icons", "execution"],
    any_output_schema: false,
    any_structured_content: false,
    result_type: false,
    meta_names: &["progressToken"],
    is_reserved: is_reserved_before_the_last,
    error_codes: &[
        (-32700, "parse error"),
        (-32603, "internal error"),
        (-32602, "invalid params"),
        (-32601, "method not found"),
        (-32600, "invalid request"),
        (-32002, "resource not found"),
    ],
};

/// Tells whether any label but the last one is the protocol's: `mcp.dev`, `tools.mcp.com`.
fn is_reserved_before_the_last(labels: &[&str]) -> bool {
    labels.split_last().is_some_and(|(_, before)| before.iter().any(|label| is_own_label(label)))
}

/// 2025-11-25: icons, tasks, and prefixes of `_meta` that are reversed host names.
const V2025_11_25: RevisionRules = RevisionRules {
    name: "2025-11-25",
    foreign_tool_fields: &[],
    any_output_schema: false,
    any_structured_content: false,
    result_type: false,
    meta_names: &["progressToken"],
    is_reserved: is_reserved_second,
    error_codes: &[
        (-32700, "parse error"),
        (-32603, "internal error"),
        (-32602, "invalid params"),
        (-32601, "method not found"),
        (-32600, "invalid request"),
        (-32042, "url elicitation required"),
        (-32002, "resource not found"),
    ],
};

/// 2026-07-28: schemas and structured content of any type, results that say whether they are complete, and tasks as an
/// extension.
const V2026_07_28: RevisionRules = RevisionRules {
    name: "2026-07-28",
    foreign_tool_fields: &["execution"],
    any_output_schema: true,
    any_structured_content: true,
    result_type: true,
    meta_names: &["progressToken", "traceparent", "tracestate", "baggage"],
    is_reserved: is_reserved_second,
    error_codes: &[
        (-32700, "parse error"),
        (-32603, "internal error"),
        (-32602, "invalid params"),
        (-32601, "method not found"),
        (-32600, "invalid request"),
        (-32022, "unsupported protocol version"),
        (-32021, "missing required client capability"),
        (-32020, "header mismatch"),
    ],
};

/// Why a key of `_meta` is not one to make up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetaKeyProblem {
    /// The key breaks the grammar `[prefix "/"] name`.
    Malformed,
    /// The prefix belongs to the protocol.
    ReservedPrefix,
    /// The name belongs to the protocol.
    ReservedName,
}

/// The words that make a prefix the protocol's own.
const OWN_LABELS: &[&str] = &["modelcontextprotocol", "mcp"];

fn is_own_label(label: &str) -> bool {
    OWN_LABELS.iter().any(|own| label.eq_ignore_ascii_case(own))
}

/// Checks that a key of `_meta` is well formed and not the protocol's own.
///
/// A prefix is labels joined by dots; a name may be empty. Who writes for unknown receivers checks with every revision.
///
/// # Errors
/// The rule of the revision that the key breaks.
///
/// ```
/// use contextweaver_convert::mcp::{MetaKeyProblem, Revision, check_meta_key};
///
/// let newest = Revision::default();
/// assert_eq!(check_meta_key("com.example/tenant", newest), Ok(()));
/// assert_eq!(check_meta_key("io.modelcontextprotocol/x", newest), Err(MetaKeyProblem::ReservedPrefix));
/// ```
pub fn check_meta_key(key: &str, revision: Revision) -> std::result::Result<(), MetaKeyProblem> {
    let rules = revision.rules();
    let (prefix, name) = key.split_once('/').map_or((None, key), |(prefix, name)| (Some(prefix), name));
    if !is_name(name) {
        return Err(MetaKeyProblem::Malformed);
    }
    let Some(prefix) = prefix else {
        return if rules.meta_names.contains(&name) { Err(MetaKeyProblem::ReservedName) } else { Ok(()) };
    };
    let labels: Vec<&str> = prefix.split('.').collect();
    if !labels.iter().all(|label| is_label(label)) {
        return Err(MetaKeyProblem::Malformed);
    }
    if (rules.is_reserved)(&labels) { Err(MetaKeyProblem::ReservedPrefix) } else { Ok(()) }
}

/// Tells whether a text is empty, or begins and ends with a letter or digit and has only those and `-_.` between.
fn is_name(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let ends = [text.bytes().next(), text.bytes().last()];
    text.bytes().all(inner) && ends.into_iter().flatten().all(|byte| byte.is_ascii_alphanumeric())
}

/// Tells whether a text begins with a letter, ends with a letter or digit, and has only those and `-` between.
fn is_label(text: &str) -> bool {
    text.starts_with(|ch: char| ch.is_ascii_alphabetic())
        && text.ends_with(|ch: char| ch.is_ascii_alphanumeric())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Tells whether the second label of a prefix is the protocol's, as later revisions reserve it.
fn is_reserved_second(labels: &[&str]) -> bool {
    labels.get(1).is_some_and(|label| is_own_label(label))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revisions_have_names() {
        for revision in Revision::ALL {
            assert_eq!(Revision::parse(revision.name()).unwrap(), *revision);
        }
        assert_eq!(Revision::parse("2024-11-05").unwrap_err().code(), ErrorCode::Unsupported);
        assert_eq!(Revision::default(), *Revision::ALL.last().unwrap());
        assert!(Revision::ALL.is_sorted());
    }

    #[test]
    fn keys_of_meta_are_checked_by_revision() {
        use MetaKeyProblem::{Malformed, ReservedName, ReservedPrefix};
        let fine = Ok(());
        // By the oldest revision, and by the two later ones.
        for (key, oldest, later) in [
            ("tenantId", fine, fine),
            ("a", fine, fine),
            ("", fine, fine),
            ("com.example/", fine, fine),
            ("com.example/a.b_c-d", fine, fine),
            ("x/y", fine, fine),
            ("mcp/x", fine, fine),
            ("modelcontextprotocol.io/x", Err(ReservedPrefix), fine),
            ("mcp.dev/x", Err(ReservedPrefix), fine),
            ("api.modelcontextprotocol.org/x", Err(ReservedPrefix), Err(ReservedPrefix)),
            ("tools.mcp.com/x", Err(ReservedPrefix), Err(ReservedPrefix)),
            ("a.b.mcp.c/x", Err(ReservedPrefix), fine),
            ("io.modelcontextprotocol/serverInfo", fine, Err(ReservedPrefix)),
            ("IO.ModelContextProtocol/serverInfo", fine, Err(ReservedPrefix)),
            ("dev.mcp/x", fine, Err(ReservedPrefix)),
            ("com.mcp.tools/x", Err(ReservedPrefix), Err(ReservedPrefix)),
            ("com.example.mcp/x", fine, fine),
            ("com.example.mcpx/x", fine, fine),
            ("progressToken", Err(ReservedName), Err(ReservedName)),
            ("com.example/progressToken", fine, fine),
            ("_a", Err(Malformed), Err(Malformed)),
            ("a_", Err(Malformed), Err(Malformed)),
            ("a b", Err(Malformed), Err(Malformed)),
            ("é", Err(Malformed), Err(Malformed)),
            ("a\n", Err(Malformed), Err(Malformed)),
            ("/a", Err(Malformed), Err(Malformed)),
            ("a/b/c", Err(Malformed), Err(Malformed)),
            ("1a/b", Err(Malformed), Err(Malformed)),
            ("a-/b", Err(Malformed), Err(Malformed)),
            ("a..b/c", Err(Malformed), Err(Malformed)),
            ("a_b/c", Err(Malformed), Err(Malformed)),
            (".a/c", Err(Malformed), Err(Malformed)),
        ] {
            assert_eq!(check_meta_key(key, Revision::V2025_06_18), oldest, "{key}");
            assert_eq!(check_meta_key(key, Revision::V2025_11_25), later, "{key}");
            assert_eq!(check_meta_key(key, Revision::V2026_07_28), later, "{key}");
        }
        for key in ["traceparent", "tracestate", "baggage"] {
            assert_eq!(check_meta_key(key, Revision::V2025_11_25), fine);
            assert_eq!(check_meta_key(key, Revision::V2026_07_28), Err(ReservedName));
        }
    }

    #[test]
    fn codes_of_errors_differ() {
        let codes = |code: i64| Revision::ALL.iter().filter(|revision| revision.error_name(code).is_some()).count();
        assert_eq!([-32602, -32002, -32042, -32020, -1].map(codes), [3, 2, 1, 1, 0]);
        for revision in Revision::ALL {
            let codes = revision.rules().error_codes;
            assert!(codes.windows(2).all(|pair| pair[0].0 < pair[1].0), "{revision:?}");
        }
    }
}
