//! Names in `_meta`: the grammar, and a spelling for what is outside of it.

use super::refused;
use crate::mcp::{MetaKeyProblem, Revision, check_meta_key};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_text::quote::quote;

/// The prefix under which every name is spelled so that it can be read back.
pub const MARKER: &str = "contextweaver.encoded";

contextweaver_model::string_enum! {
    /// What happens to a key outside the grammar of `_meta`.
    #[derive(Default)]
    OnInvalidKey, "treatment of a key" {
        /// The call fails with the reason `InvalidMetaKey`.
        #[default]
        Error = "error",
        /// The entry is left out.
        Drop = "drop",
        /// The key is spelled with legal characters.
        Encode = "encode",
    }
}

/// Makes the error for a key outside the grammar.
pub fn invalid(key: &str) -> Error {
    let message = format!("the key {} is outside the grammar of keys in `_meta`", quote(key));
    refused(ErrorCode::InvalidInput, "InvalidMetaKey", message, key).hint("rename it, or set onInvalidKey")
}

/// Tells whether a text is labels joined by dots.
pub fn is_prefix(text: &str) -> bool {
    is_well_formed(&[text, "/"].concat())
}

/// Tells whether a text is a name: letters and digits, with `-_.` between them.
fn is_name(text: &str) -> bool {
    !text.contains('/') && is_well_formed(text)
}

/// The grammar is the same in every revision.
fn is_well_formed(key: &str) -> bool {
    check_meta_key(key, Revision::default()) != Err(MetaKeyProblem::Malformed)
}

/// Returns the name to write; none when the entry is to be dropped.
pub fn spelled(prefix: &str, name: &str, on_invalid: OnInvalidKey) -> Result<Option<String>> {
    let reversible = prefix == MARKER && on_invalid == OnInvalidKey::Encode;
    if is_name(name) && !reversible {
        return Ok(Some(name.to_owned()));
    }
    match on_invalid {
        OnInvalidKey::Error => Err(invalid(name)),
        OnInvalidKey::Drop => Ok(None),
        OnInvalidKey::Encode => Ok(Some(encode(name, reversible))),
    }
}

/// Spells a name with legal characters: every other byte as a dot and two hexadecimal digits.
///
/// A name begins with a letter or digit, so `x` goes before one that would not. To be read back, dots are spelled, too,
/// and the `x` is always there.
fn encode(name: &str, reversible: bool) -> String {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let mut out = String::new();
    let last = name.len().saturating_sub(1);
    for (at, byte) in name.bytes().enumerate() {
        let inside = matches!(byte, b'-' | b'_') || byte == b'.' && !reversible;
        if byte.is_ascii_alphanumeric() || inside && at != 0 && at != last {
            out.push(char::from(byte));
        } else {
            out.push('.');
            out.push(char::from(DIGITS[usize::from(byte >> 4)]));
            out.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
    }
    if reversible || out.starts_with('.') {
        out.insert(0, 'x');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_spelled_legally() {
        for (name, wanted) in [
            ("tenantId", "tenantId"),
            ("a.b_c-d", "a.b_c-d"),
            ("", ""),
            ("naïve", "na.C3.AFve"),
            ("é", "x.C3.A9"),
            ("_a", "x.5Fa"),
            ("a_", "a.5F"),
            ("a b", "a.20b"),
            ("9bad/x", "9bad.2Fx"),
            ("😀", "x.F0.9F.98.80"),
        ] {
            let spelled = spelled("", name, OnInvalidKey::Encode).unwrap().unwrap();
            assert_eq!(spelled, wanted);
            assert!(is_name(&spelled));
        }
        assert_eq!(spelled("", "a b", OnInvalidKey::Drop).unwrap(), None);
        let error = spelled("", "a b", OnInvalidKey::Error).unwrap_err();
        assert_eq!(error.details()["reason"], "InvalidMetaKey");
    }

    #[test]
    fn under_the_marker_every_name_has_its_own_spelling() {
        let names = ["a.b", "a.2Eb", "x.C3.A9", "é", "", "x", "a_", "_", ".", "a b", "a.20b"];
        let mut spelled: Vec<String> =
            names.iter().map(|name| super::spelled(MARKER, name, OnInvalidKey::Encode).unwrap().unwrap()).collect();
        assert!(spelled.iter().all(|name| is_name(name)), "{spelled:?}");
        contextweaver_base::order::sort_distinct(&mut spelled);
        assert_eq!(spelled.len(), names.len());
    }
}
