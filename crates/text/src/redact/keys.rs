//! What keys and values say about being a credential, under the full rules.

use super::chars::{ALNUM_UNDER, DOT, is, rest, starts_ignoring_case, tick};
use crate::openings::Openings;

/// Shortest value that counts as a credential, in characters.
pub(super) const MIN_VALUE: usize = 6;
/// Shortest quoted password; quotes make it unlikely that the value is prose.
const MIN_QUOTED_PASSWORD: usize = 4;
/// Longest value that may be exempt as a placeholder.
///
/// The bound keeps the total time linear: a longer value is always masked and therefore never
/// looked at again.
const MAX_EXEMPT: usize = 128;
/// Longest key that is looked at.
pub(super) const MAX_KEY: usize = 64;

/// What a key says about its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyKind {
    /// A chosen secret, which may be short or numeric.
    Password,
    /// A password, or the working directory that shells call by the same name.
    Directory,
    /// A generated secret.
    Secret,
    /// A word with many other meanings, so plain numbers are left alone.
    Token,
    /// A key that often holds something else, so the value has to look generated.
    Strict,
}

/// How a key word has to sit in a key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WordFit {
    /// It ends the key, also inside a longer word such as `dbpassword`.
    Suffix,
    /// It is the last whole segment of the key.
    Segment,
}

/// Key words of the full rules, lower case and without separators.
const WORDS: [(&str, WordFit, KeyKind); 20] = [
    ("password", WordFit::Suffix, KeyKind::Password),
    ("passwd", WordFit::Suffix, KeyKind::Password),
    ("passphrase", WordFit::Suffix, KeyKind::Password),
    ("passcode", WordFit::Suffix, KeyKind::Password),
    ("pwd", WordFit::Suffix, KeyKind::Password),
    ("pass", WordFit::Segment, KeyKind::Password),
    ("pw", WordFit::Segment, KeyKind::Password),
    ("secret", WordFit::Suffix, KeyKind::Secret),
    ("apikey", WordFit::Suffix, KeyKind::Secret),
    ("accesskey", WordFit::Suffix, KeyKind::Secret),
    ("secretkey", WordFit::Suffix, KeyKind::Secret),
    ("privatekey", WordFit::Suffix, KeyKind::Secret),
    ("accountkey", WordFit::Suffix, KeyKind::Secret),
    ("encryptionkey", WordFit::Suffix, KeyKind::Secret),
    ("signingkey", WordFit::Suffix, KeyKind::Secret),
    ("authkey", WordFit::Suffix, KeyKind::Secret),
    ("token", WordFit::Suffix, KeyKind::Token),
    ("authorization", WordFit::Segment, KeyKind::Strict),
    ("credential", WordFit::Suffix, KeyKind::Strict),
    ("sig", WordFit::Segment, KeyKind::Strict),
];

/// The last two letters of all key words and qualifiers, read backwards; most keys end differently.
const ENDINGS: Openings = {
    let mut endings = Openings::NONE;
    let mut at = 0;
    while at < WORDS.len() + QUALIFIERS.len() {
        let word = if at < WORDS.len() { WORDS[at].0 } else { QUALIFIERS[at - WORDS.len()] }.as_bytes();
        endings = endings.with_letters(word[word.len() - 1], word[word.len() - 2]);
        at += 1;
    }
    endings
};

/// What stands before `token` in names of pagination cursors and vocabulary entries.
///
/// They are no credentials, and masking them would stop an agent from fetching the next page.
#[rustfmt::skip]
const HARMLESS_TOKENS: [&str; 13] = [
    "page", "next", "pagination", "continuation", "sync", "bos", "eos", "pad", "unk", "sep", "cls", "mask", "stop",
];

/// Segments that say which credential is meant, not what it is, and may follow the key word.
#[rustfmt::skip]
const QUALIFIERS: [&str; 14] = [
    "prod", "production", "dev", "development", "staging", "test", "live", "old", "new",
    "current", "value", "primary", "secondary", "confirmation",
];

/// Lower-case values that describe a credential and are none.
#[rustfmt::skip]
const DESCRIPTIONS: [&str; 32] = [
    "boolean", "cannot", "disabled", "enabled", "expired", "failed", "false", "forbidden",
    "hidden", "incorrect", "integer", "invalid", "masked", "missing", "mandatory", "none", "null",
    "number", "object", "optional", "password", "redacted", "required", "secret", "should",
    "string", "true", "undefined", "unknown", "unset", "unauthorized", "wrong",
];

/// Starts of values that refer to a secret kept elsewhere, in lower case.
#[rustfmt::skip]
const EXTERNAL_SECRETS: [&str; 17] = [
    "process.env", "os.environ", "os.getenv", "getenv(", "import.meta.env", "system.getenv",
    "env.", "env[", "env(", "secrets.", "secrets[", "var.", "op://", "vault:", "optional[",
    "option<", "secretstr",
];

/// A key in lower case and without separators.
struct KeyName {
    bytes: [u8; MAX_KEY],
    length: usize,
    /// One bit per byte that starts a segment.
    segments: u64,
}

impl KeyName {
    /// Normalises the end of a key, which is where the key word is.
    fn new(key: &[u8]) -> Self {
        let mut name = Self { bytes: [0; MAX_KEY], length: 0, segments: 0 };
        let mut previous = b' ';
        for &b in key.iter().skip(key.len().saturating_sub(MAX_KEY)) {
            if !is_separator(b)
                && let Some(slot) = name.bytes.get_mut(name.length)
            {
                *slot = b.to_ascii_lowercase();
                let camel = b.is_ascii_uppercase() && !previous.is_ascii_uppercase();
                let starts = camel || !previous.is_ascii_alphanumeric();
                name.segments |= u64::from(starts) << name.length;
                name.length += 1;
            }
            previous = b;
        }
        name
    }

    fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    fn fits(&self, word: &str, fit: WordFit) -> bool {
        let Some(head) = self.bytes().strip_suffix(word.as_bytes()) else {
            return false;
        };
        fit == WordFit::Suffix || self.segments & (1 << head.len()) != 0
    }
}

fn is_separator(b: u8) -> bool {
    matches!(b, b'-' | b'_' | b'.' | b' ')
}

/// Cuts trailing separators and numbers, as in `password_2`.
fn trim_key(key: &[u8]) -> &[u8] {
    let surplus = key.iter().rev().take_while(|b| b.is_ascii_digit() || is_separator(**b)).count();
    key.get(..key.len() - surplus).unwrap_or_default()
}

/// Returns what a key says about its value under the full rules.
pub(super) fn key_kind(key: &str) -> Option<KeyKind> {
    tick(key.len());
    let key = trim_key(key.as_bytes());
    let [.., before, last] = key else { return None };
    // A separator may stand between any two letters of a key word.
    if !is_separator(*before) && !ENDINGS.may_start(&[*last, *before]) {
        return None;
    }
    let mut name = KeyName::new(key);
    if let Some(word) = QUALIFIERS.iter().find(|word| name.fits(word, WordFit::Segment)) {
        name.length -= word.len();
        name.length = trim_key(name.bytes()).len();
    }
    if matches!(name.bytes(), b"pwd" | b"oldpwd") {
        return Some(KeyKind::Directory);
    }
    let &(_, _, kind) = WORDS.iter().find(|(word, fit, _)| name.fits(word, *fit))?;
    let head = name.bytes().strip_suffix(b"token").unwrap_or_default();
    let harmless = HARMLESS_TOKENS.iter().any(|word| head.ends_with(word.as_bytes()));
    (kind != KeyKind::Token || !harmless).then_some(kind)
}

/// Reports whether a value assigned to a key of some kind has to be masked.
pub(super) fn is_secret(kind: KeyKind, value: &str, quoted: bool) -> bool {
    let least = if quoted && kind == KeyKind::Password { MIN_QUOTED_PASSWORD } else { MIN_VALUE };
    tick(value.len());
    let plain = |b: u8| b.is_ascii_digit() || matches!(b, b'.' | b',' | b'-' | b'+' | b'_' | b'%');
    let has_digit = || value.bytes().any(|b| b.is_ascii_digit());
    value.chars().take(least).count() == least
        && value.chars().any(char::is_alphanumeric)
        && !is_placeholder(value)
        && match kind {
            KeyKind::Password | KeyKind::Secret => true,
            KeyKind::Directory => !is_path(value),
            KeyKind::Token => !value.bytes().all(plain),
            KeyKind::Strict => value.len() >= MAX_KEY || value.len() >= 16 && has_digit(),
        }
}

/// Reports whether a value is an absolute path.
fn is_path(value: &str) -> bool {
    value.starts_with('/') || value.starts_with("~/") || value.get(1..3) == Some(":\\")
}

/// Reports whether a value stands for a secret without being one.
pub(super) fn is_placeholder(value: &str) -> bool {
    if value.len() > MAX_EXEMPT {
        return false;
    }
    let value = value.trim();
    let framed = |open: &str, close: &str| value.starts_with(open) && value.ends_with(close);
    let name = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
    [("<", ">"), ("${", "}"), ("$(", ")"), ("{{", "}}")].iter().any(|(open, close)| framed(open, close))
        || framed("%", "%")
        || framed("[", "]") && value.bytes().all(|b| name(b) || matches!(b, b'[' | b']' | b'-' | b' '))
        || value.strip_prefix('$').is_some_and(|rest| rest.bytes().all(name))
        || EXTERNAL_SECRETS.iter().any(|start| starts_ignoring_case(value, 0, start))
        || DESCRIPTIONS.iter().any(|word| word.eq_ignore_ascii_case(value.trim_end_matches('.')))
        || value.chars().all(|c| matches!(c, '*' | 'x' | 'X' | '.' | '-' | '_' | '#' | '•' | '…'))
}

/// Reports whether a value without quotes is a call or an attribute, such as `self.api_token`.
pub(super) fn is_code(value: &str) -> bool {
    let path = value.bytes().take(MAX_EXEMPT).take_while(|&b| is(b, ALNUM_UNDER | DOT)).count();
    let named = path > 0 && !value.starts_with(|c: char| c.is_ascii_digit());
    let attribute = path == value.len() && value.contains('.') && key_kind(value).is_some();
    named && value.len() <= MAX_EXEMPT && (rest(value, path).starts_with('(') || attribute)
}
