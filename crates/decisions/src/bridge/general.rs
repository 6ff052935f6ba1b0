//! A text without the numbers and names that hold for one case only.
//!
//! Each rule goes once over the text, in the order of contextweaver 0.18; a place is looked at with what is before it, so
//! that nothing is found inside a word.

use contextweaver_text::unicode::{is_digit, is_space, is_word, trim};

/// Finds what a rule stands for at the beginning of a text; `before` is the character before it. Returns its bytes.
type PlaceholderRule = fn(text: &str, before: Option<char>) -> Option<usize>;

/// What is looked for, and what is written for it.
const RULES: &[(PlaceholderRule, &str)] = &[
    (pull_request, "a PR"),
    (number_sign, ""),
    (duration, "N time-units"),
    (size, "N size-units"),
    (version, "vX.Y"),
    (date, "DATE"),
    (integer, "N"),
    (path, "a file"),
    (quoted, "a component"),
    (camel_case, "a component"),
    (empty_brackets, ""),
];

/// Verbs of one change, with those of any.
const VERBS: &[(&str, &str)] = &[
    ("increased", "adjusted"),
    ("decreased", "adjusted"),
    ("changed", "modified"),
    ("switched", "replaced"),
    ("migrated", "transitioned"),
    ("upgraded", "updated"),
    ("downgraded", "reverted"),
    ("fixed", "corrected"),
    ("patched", "corrected"),
    ("deployed", "released"),
    ("shipped", "released"),
    ("merged", "integrated"),
    ("added", "introduced"),
    ("removed", "eliminated"),
    ("deleted", "eliminated"),
    ("refactored", "restructured"),
    ("extracted", "separated"),
    ("moved", "relocated"),
    ("renamed", "relabeled"),
];

/// Returns a text without what holds for one case only, on one line.
pub fn general(text: &str) -> String {
    let mut text = text.to_owned();
    for (find, stand_in) in RULES {
        text = replaced(&text, *find, stand_in);
    }
    let words: Vec<String> = text.split(is_space).filter(|word| !word.is_empty()).map(general_verb).collect();
    trim(&words.join(" ")).to_owned()
}

fn replaced(text: &str, find: PlaceholderRule, stand_in: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut before) = (text, None);
    while let Some(ch) = rest.chars().next() {
        let found = find(rest, before).filter(|bytes| *bytes > 0);
        let taken = found.unwrap_or(ch.len_utf8());
        out.push_str(if found.is_some() { stand_in } else { &rest[..taken] });
        before = rest[..taken].chars().next_back();
        rest = &rest[taken..];
    }
    out
}

/// Replaces a verb, its first letter and what follows it kept.
fn general_verb(word: &str) -> String {
    let verb = word.trim_end_matches(|ch: char| ch.is_ascii_punctuation());
    let lower = verb.to_ascii_lowercase();
    let Some((_, other)) = VERBS.iter().find(|(known, _)| *known == lower) else { return word.to_owned() };
    let mut out = (*other).to_owned();
    if verb.starts_with(|ch: char| ch.is_ascii_uppercase()) {
        out[..1].make_ascii_uppercase();
    }
    out + &word[verb.len()..]
}

fn is_inside(before: Option<char>) -> bool {
    before.is_some_and(is_word)
}

/// Tells whether a word ends where a text begins.
fn is_end(rest: &str) -> bool {
    !rest.starts_with(is_word)
}

/// Returns the bytes of the characters a text begins with.
fn run(text: &str, fits: fn(char) -> bool) -> usize {
    text.find(|ch| !fits(ch)).unwrap_or(text.len())
}

/// Returns the bytes of the digits a text begins with, if any.
fn digits(text: &str) -> Option<usize> {
    Some(run(text, is_digit)).filter(|bytes| *bytes > 0)
}

fn pull_request(text: &str, before: Option<char>) -> Option<usize> {
    let name = text.get(..2).filter(|name| name.eq_ignore_ascii_case("pr") && !is_inside(before))?;
    let rest = &text[name.len()..];
    let number = rest.trim_start_matches(is_space);
    let number = number.strip_prefix('#').unwrap_or(number);
    let bytes = digits(number)?;
    Some(text.len() - number.len() + bytes)
}

fn number_sign(text: &str, _: Option<char>) -> Option<usize> {
    digits(text.strip_prefix('#')?).map(|bytes| 1 + bytes)
}

/// Finds a number with one of the units, perhaps with a fraction and white space between.
fn measure(text: &str, before: Option<char>, units: &[&str]) -> Option<usize> {
    if is_inside(before) || before == Some('.') {
        return None;
    }
    let whole = digits(text)?;
    let part = text[whole..].strip_prefix('.').and_then(digits).map_or(0, |bytes| bytes + 1);
    let unit = text[whole + part..].trim_start_matches(is_space);
    let bytes = run(unit, |ch| ch.is_ascii_alphabetic());
    let known = units.iter().any(|known| known.eq_ignore_ascii_case(&unit[..bytes]));
    (known && is_end(&unit[bytes..])).then(|| text.len() - unit.len() + bytes)
}

fn duration(text: &str, before: Option<char>) -> Option<usize> {
    measure(text, before, &["s", "ms", "second", "seconds", "minute", "minutes", "hour", "hours"])
}

fn size(text: &str, before: Option<char>) -> Option<usize> {
    measure(text, before, &["mb", "gb", "kb", "byte", "bytes"])
}

fn version(text: &str, before: Option<char>) -> Option<usize> {
    if is_inside(before) {
        return None;
    }
    let start = usize::from(text.starts_with(['v', 'V']));
    let major = start + digits(&text[start..])?;
    let minor = major + 1 + digits(text[major..].strip_prefix('.')?)?;
    let patch = text[minor..].strip_prefix('.').and_then(digits).map_or(minor, |bytes| minor + 1 + bytes);
    is_end(&text[patch..]).then_some(patch)
}

fn date(text: &str, before: Option<char>) -> Option<usize> {
    let wanted = "dddd-dd-dd";
    let part = text.get(..wanted.len()).filter(|_| !is_inside(before))?;
    let fits = part.bytes().zip(wanted.bytes()).all(|(byte, wanted)| match wanted {
        b'd' => byte.is_ascii_digit(),
        _ => byte == wanted,
    });
    (fits && is_end(&text[wanted.len()..])).then_some(wanted.len())
}

fn integer(text: &str, before: Option<char>) -> Option<usize> {
    if is_inside(before) {
        return None;
    }
    digits(text).filter(|bytes| is_end(&text[*bytes..]))
}

/// Finds a path in small letters with a folder and an ending.
fn path(text: &str, before: Option<char>) -> Option<usize> {
    let is_path = |ch: char| ch.is_ascii_lowercase() || ch.is_ascii_digit() || matches!(ch, '_' | '-' | '.' | '/');
    if is_inside(before) || before.is_some_and(is_path) || !text.starts_with(is_path) {
        return None;
    }
    let whole = &text[..text.find(|ch| !is_path(ch)).unwrap_or(text.len())];
    let bytes = whole.trim_end_matches(['.', '-', '/']).len();
    let (folder, name) = whole[..bytes].rsplit_once('/')?;
    let (stem, ending) = name.rsplit_once('.')?;
    let is_named = folder.contains(|ch: char| ch.is_ascii_alphanumeric()) && !stem.is_empty();
    let fits = is_named && !ending.is_empty() && ending.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (fits && is_end(&text[bytes..])).then_some(bytes)
}

fn quoted(text: &str, _: Option<char>) -> Option<usize> {
    let rest = text.strip_prefix('`')?;
    rest.find('`').filter(|bytes| *bytes > 0).map(|bytes| bytes + 2)
}

/// Finds a word of at least two parts, each a capital letter and small ones.
fn camel_case(text: &str, before: Option<char>) -> Option<usize> {
    let (mut at, mut humps) = (0, 0);
    while text[at..].starts_with(|ch: char| ch.is_ascii_uppercase()) && !is_inside(before) {
        let small = run(&text[at + 1..], |ch| ch.is_ascii_lowercase());
        if small == 0 {
            return None;
        }
        (at, humps) = (at + 1 + small, humps + 1);
    }
    (humps >= 2 && is_end(&text[at..])).then_some(at)
}

fn empty_brackets(text: &str, _: Option<char>) -> Option<usize> {
    let (open, close) = if text.starts_with('(') { ('(', ')') } else { ('[', ']') };
    let inner = text.strip_prefix(open)?.trim_start_matches(is_space);
    inner.starts_with(close).then(|| text.len() - inner.len() + 1)
}
