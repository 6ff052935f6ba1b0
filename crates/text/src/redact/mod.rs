//! Masks credentials in text and in JSON values.
//!
//! What is found: tokens of known formats, private keys, credentials of requests and addresses, and what is assigned to
//! names of credentials, also in JSON, in tables and behind colours and zero-width characters. What only sounds like a
//! credential is left alone. One hand-written scanner looks for all of it, with linear running time on any input.

mod accounts;
mod assign;
mod chars;
mod context;
#[cfg(all(test, not(target_arch = "wasm32")))]
mod everyday_tests;
mod handed_on;
mod hidden;
mod keep;
#[cfg(all(test, not(target_arch = "wasm32")))]
mod keep_tests;
mod keys;
mod manifest;
mod openings;
mod rules;
mod scan;
mod scanner;
mod statements;
mod tables;
// The properties need a crate that does not exist on WebAssembly.
#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
mod tokens;
mod words;
mod wraps;

use std::borrow::Cow;

use serde_json::Value;

pub(crate) use chars::{after, before, digit, is_word};
use hidden::{HiddenReading, VisibleText, hides, readings};
pub use keep::Keep;
use keep::KeptSpans;
use scan::SecretSpan;
use scanner::{ALL, ASSIGN, HiddenSearch, PEM, Scanner};
use wraps::is_wrapped;

/// Replacement for a secret unless the caller chooses another one.
pub const SECRET_MASK: &str = "[REDACTED-SECRET]";

/// Bounds how often masking repeats until nothing changes.
///
/// One round is enough for all but contrived text in which masking one secret reveals another.
const MAX_ROUNDS: usize = 8;

/// Bytes by which a value may go on behind a part that stays unmasked, to be searched again from there. A longer value
/// is masked at once, so that it is not read again and again.
const MAX_BEHIND_KEPT: usize = 512;

/// Bounds how deep [`redact_value`] follows nested values.
const MAX_DEPTH: usize = 128;

/// Replaces every secret in a text by a mask.
///
/// Text without secrets is returned as it is, after a single pass. The mask is taken literally.
/// With [`SECRET_MASK`], masking a masked text changes nothing.
///
/// ```
/// use contextweaver_text::{SECRET_MASK, redact_secrets};
///
/// let masked = redact_secrets("export API_KEY=9f8a7b6c5d4e3f2a1b0c", SECRET_MASK);
/// assert_eq!(masked, "export API_KEY=[REDACTED-SECRET]");
/// let plain = redact_secrets("max_tokens: 100000", SECRET_MASK);
/// assert_eq!(plain, "max_tokens: 100000");
/// ```
#[must_use]
pub fn redact_secrets<'a>(text: &'a str, mask: &str) -> Cow<'a, str> {
    redact_keeping(text, mask, &Keep::default())
}

/// Does the same, but for what is to be left alone.
#[must_use]
pub fn redact_keeping<'a>(text: &'a str, mask: &str, keep: &Keep) -> Cow<'a, str> {
    let found = rules_present(text, mask, ALL);
    if found.rules == 0 {
        return Cow::Borrowed(text);
    }
    mask_found(text, mask, found, keep).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// Replaces every secret in a text by [`SECRET_MASK`], by all rules: what is to be shown of other people's texts.
///
/// ```
/// use contextweaver_text::redact::mask_secrets;
///
/// assert_eq!(mask_secrets("export API_KEY=9f8a7b6c5d4e3f2a1b0c"), "export API_KEY=[REDACTED-SECRET]");
/// ```
#[must_use]
pub fn mask_secrets(text: &str) -> Cow<'_, str> {
    redact_secrets(text, SECRET_MASK)
}

/// Reports whether a text contains a secret.
///
/// A value that has already been masked does not count.
///
/// ```
/// use contextweaver_text::contains_secret;
///
/// assert!(contains_secret("password=hunter22"));
/// assert!(!contains_secret("the password is required"));
/// ```
#[must_use]
pub fn contains_secret(text: &str) -> bool {
    let mut scanner = Scanner::new(text, SECRET_MASK).seeking_hidden();
    let hit = scanner.next(0, 0, ALL);
    let hides = scanner.hidden == HiddenSearch::Met || hit.is_some_and(|hit| hides(text, hit.trigger));
    if hides || scanner.met_wrap && hit.is_none() {
        return rules_present(text, SECRET_MASK, ALL).rules != 0;
    }
    hit.is_some()
}

/// Returns a text in each way in which it has to be read to see all of it.
pub(crate) fn read(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    readings(hides(text, 0)).iter().map(move |&reading| VisibleText::new(text, reading).text)
}

/// Replaces every secret in the string leaves of a JSON value by a mask.
///
/// Keys are never changed. A key such as `password` makes its value a secret, in a list as well. Values nested deeper than 128 levels are replaced by the
/// mask, because leaving them unread could leak.
///
/// ```
/// use contextweaver_text::{SECRET_MASK, redact_value};
/// use serde_json::json;
///
/// let value = json!({ "user": "ada", "password": "hunter 22" });
/// let masked = redact_value(&value, SECRET_MASK);
/// assert_eq!(masked, json!({ "user": "ada", "password": SECRET_MASK }));
/// ```
#[must_use]
pub fn redact_value(value: &Value, mask: &str) -> Value {
    redact_value_keeping(value, mask, &Keep::default())
}

/// Does the same, but for what is to be left alone.
#[must_use]
pub fn redact_value_keeping(value: &Value, mask: &str, keep: &Keep) -> Value {
    Leaves { mask, keep, path: Vec::new() }.redact(value, None, MAX_DEPTH)
}

/// Masks the leaves of a value.
struct Leaves<'a> {
    mask: &'a str,
    keep: &'a Keep,
    /// Names of the fields above.
    path: Vec<&'a str>,
}

impl<'a> Leaves<'a> {
    fn redact(&mut self, value: &'a Value, kind: Option<keys::KeyKind>, depth: usize) -> Value {
        let mask = || Value::String(self.mask.to_owned());
        let Some(below) = depth.checked_sub(1) else {
            return mask();
        };
        let named = |text: &str, quoted| kind.is_some_and(|kind| keys::is_secret(kind, text, quoted));
        match value {
            Value::String(text) if named(text, true) => mask(),
            Value::String(text) => redact_keeping(text, self.mask, self.keep).into_owned().into(),
            Value::Number(number) if named(&number.to_string(), false) => mask(),
            Value::Array(items) => items.iter().map(|item| self.redact(item, kind, below)).collect(),
            Value::Object(fields) => {
                let fields = fields.iter().map(|(name, field)| (name.clone(), self.field(name, field, below)));
                Value::Object(fields.collect())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    fn field(&mut self, name: &'a str, value: &'a Value, depth: usize) -> Value {
        if self.keep.keeps(&self.path, name) {
            return value.clone();
        }
        let kind = read(name).find_map(|name| keys::key_kind(&name));
        self.path.push(name);
        let masked = self.redact(value, kind, depth);
        self.path.pop();
        masked
    }
}

/// Does the same in names of fields as well, for what is shown rather than looked up.
///
/// ```
/// use contextweaver_text::SECRET_MASK;
/// use contextweaver_text::redact::redact_names;
/// use serde_json::json;
///
/// let value = json!({ "AKIAABCDEFGHIJKLMNOP": "AKIAABCDEFGHIJKLMNOP" });
/// let masked = redact_names(&value, SECRET_MASK);
/// assert_eq!(masked, json!({ SECRET_MASK: SECRET_MASK }));
/// ```
#[must_use]
pub fn redact_names(value: &Value, mask: &str) -> Value {
    redact_names_keeping(value, mask, &Keep::default())
}

/// Does the same, but for what is to be left alone.
#[must_use]
pub fn redact_names_keeping(value: &Value, mask: &str, keep: &Keep) -> Value {
    fn names(value: Value, mask: &str) -> Value {
        let masked = |name: String| match redact_secrets(&name, mask) {
            Cow::Borrowed(_) => name,
            Cow::Owned(masked) => masked,
        };
        match value {
            Value::Array(items) => items.into_iter().map(|item| names(item, mask)).collect(),
            Value::Object(map) => map.into_iter().map(|(name, value)| (masked(name), names(value, mask))).collect(),
            other => other,
        }
    }
    // Values first: a name says whether its value is a secret. It also bounds the depth.
    names(redact_value_keeping(value, mask, keep), mask)
}

/// Masks credentials in an id, a handle or a path. Its parts are looked at one by one: in `result:api_token:c1` nothing
/// is assigned.
///
/// ```
/// use contextweaver_text::redact::redact_id;
///
/// assert_eq!(redact_id("mcp:read:AKIAABCDEFGHIJKLMNOP:text:0"), "mcp:read:[REDACTED-SECRET]:text:0");
/// assert_eq!(redact_id("/metadata/password:hunter2222"), "/metadata/password:hunter2222");
/// ```
#[must_use]
pub fn redact_id(id: &str) -> Cow<'_, str> {
    // One look at the whole is enough for most; what is found in it may be an assignment that is none.
    if !contains_secret(id) {
        return Cow::Borrowed(id);
    }
    let mut out = String::with_capacity(id.len());
    for part in id.split_inclusive([':', '/']) {
        let (name, end) = part.strip_suffix([':', '/']).map_or((part, ""), |name| (name, &part[name.len()..]));
        out += &mask_secrets(name);
        out += end;
    }
    Cow::Owned(out)
}

/// What a look at a text has shown.
#[derive(Clone, Copy)]
struct Found {
    /// Bits of the rules that match somewhere.
    rules: u32,
    /// Whether something is hidden in the text.
    hides: bool,
    /// Whether lines break inside of words.
    wraps: bool,
}

/// Returns the rules that match somewhere in a text.
fn rules_present(text: &str, mask: &str, wanted: u32) -> Found {
    let mut scanner = Scanner::new(text, mask).seeking_hidden();
    let rules = scanner.rules_present(wanted, &|_| true);
    let mut found = Found { rules, hides: scanner.hidden == HiddenSearch::Met, wraps: scanner.met_wrap };
    let look = |reading, found: &mut Found| {
        let (shown, mask) = (VisibleText::new(text, reading), VisibleText::new(mask, reading));
        let mut scanner = Scanner::new(&shown.text, &mask.text);
        found.rules |= scanner.rules_present(wanted & !found.rules, &|hit| is_whole(text, &shown, hit));
        found.wraps |= scanner.met_wrap;
        shown.parts
    };
    if found.hides {
        found.rules = 0;
        if look(HiddenReading::Joined, &mut found) {
            look(HiddenReading::Parted, &mut found);
        }
    }
    if found.wraps {
        look(HiddenReading::Unwrapped, &mut found);
    }
    found
}

/// Reports whether what was found in a reading is one piece: without line breaks, only what goes over one is new.
fn is_whole(text: &str, shown: &VisibleText<'_>, hit: &SecretSpan) -> bool {
    shown.reading != HiddenReading::Unwrapped
        || hit.rule != PEM && is_wrapped(text, shown.start(hit.start), shown.end(hit.end), hit.rule, SECRET_MASK)
}

/// Applies all rules, assignments last, until the result is stable.
///
/// Tokens go first because an assigned value without quotes ends at white space, which a longer
/// secret may contain.
fn mask_found(text: &str, mask: &str, found: Found, keep: &Keep) -> Option<String> {
    let mut current: Option<String> = None;
    let mut found = found;
    let rounds = if mask == SECRET_MASK { MAX_ROUNDS } else { 1 };
    found.hides |= hides(mask, 0);
    for round in 1..=rounds {
        let mut is_changed = false;
        for rules in [found.rules & !ASSIGN, ASSIGN] {
            if let Some(masked) = mask_rules(current.as_deref().unwrap_or(text), found, mask, rules, keep) {
                current = Some(masked);
                is_changed = true;
            }
        }
        // What is left alone is found each time.
        if !is_changed || round == rounds {
            break;
        }
        found = rules_present(current.as_deref().unwrap_or(text), mask, ALL);
        if found.rules == 0 {
            break;
        }
    }
    current
}

/// Masks every match of the given rules, in each reading of the text.
fn mask_rules(text: &str, found: Found, mask: &str, rules: u32, keep: &Keep) -> Option<String> {
    let mut current: Option<String> = None;
    let unwrapped: &[_] = if found.wraps { &[HiddenReading::Unwrapped] } else { &[] };
    for &reading in unwrapped.iter().chain(readings(found.hides)) {
        let (masked, parts) = mask_reading(current.as_deref().unwrap_or(text), reading, mask, rules, keep);
        current = masked.or(current);
        if reading == HiddenReading::Joined && !parts {
            break;
        }
    }
    current
}

/// Masks every match of the given rules from left to right, but for what is to be left alone.
///
/// Also tells whether the text has to be read in parts as well.
fn mask_reading(text: &str, reading: HiddenReading, mask: &str, rules: u32, keep: &Keep) -> (Option<String>, bool) {
    if rules == 0 {
        return (None, false);
    }
    let (shown, shown_mask) = (VisibleText::new(text, reading), VisibleText::new(mask, reading));
    let kept = KeptSpans::of(&shown.text, keep);
    let mut scanner = Scanner::new(&shown.text, &shown_mask.text);
    let mut masked = String::new();
    let (mut copied, mut from) = (0, 0);
    while let Some(hit) = scanner.next(from, from, rules) {
        let mut start = hit.start;
        if let Some(end) = kept.end_at(hit.start) {
            from = end;
            // What follows may be a secret of its own. But a value that goes on and on is not read again and again.
            if hit.end <= end + MAX_BEHIND_KEPT {
                continue;
            }
            start = end;
        }
        from = hit.end;
        if is_whole(text, &shown, &hit) {
            masked.push_str(chars::part(text, copied, shown.start(start)));
            masked.push_str(mask);
            copied = shown.end(hit.end);
        }
    }
    if copied == 0 {
        return (None, shown.parts);
    }
    masked.push_str(chars::rest(text, copied));
    (Some(masked), shown.parts)
}
