//! Texts: patterns, JSON, credentials.

use contextweaver_base::{StepBudget, limits};
use contextweaver_model::json;
use contextweaver_text::pattern::{Dialect, Pattern};
use contextweaver_text::redact::{SECRET_MASK, contains_secret, redact_secrets};
use serde_json::Value;

use crate::bytes::Bytes;

/// A match lies in the text, on character boundaries, and a literal is found where the standard library finds it.
pub fn pattern(data: &[u8]) {
    let mut bytes = Bytes(data);
    let flags = bytes.byte();
    let source = bytes.line();
    let text = bytes.text();
    let fold = flags & 1 == 1;
    let dialect = if flags & 2 == 2 { Dialect::Whole } else { Dialect::Lines };
    let mut budget = StepBudget::new("the search", limits::MAX_SEARCH_STEPS);
    if let Ok(found) = Pattern::expression(&source, dialect, fold) {
        let (mut matcher, mut from) = (found.matcher(), 0);
        // Each match begins where the last one ended, or one character later when it was empty.
        while let Ok(Some((start, end))) = matcher.find(&text, from, &mut budget) {
            assert!(from <= start && start <= end, "{source:?} at {start}..{end} from {from} of {text:?}");
            assert!(text.get(start..end).is_some(), "{source:?} cuts a character at {start}..{end} of {text:?}");
            let step = text[end..].chars().next().map_or(1, char::len_utf8);
            from = if end > start { end } else { end + step };
            if from > text.len() {
                break;
            }
        }
    }
    if let Ok(literal) = Pattern::text(&source, false) {
        let expected = text.find(&source).map(|at| (at, at + source.len()));
        let found = literal.matcher().find(&text, 0, &mut StepBudget::new("the search", limits::MAX_SEARCH_STEPS));
        assert_eq!(found.ok(), Some(expected), "{source:?} in {text:?}");
    }
}

/// What is read is what `serde_json` reads, and what is written of it reads the same.
pub fn json(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(value) = json::parse(&text) else { return };
    assert_eq!(serde_json::from_str::<Value>(&text).ok().as_ref(), Some(&value), "{text:?}");
    let ascii = json::to_sorted_ascii(&value, None);
    assert!(ascii.is_ascii(), "{ascii:?}");
    assert_eq!(json::parse(&ascii).ok().as_ref(), Some(&value), "{text:?} as {ascii:?}");
}

/// Credentials in the forms of their makers.
const PLANTED: [&str; 4] = [
    "AKIAQWERTYUIOPASDFGH",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "sk-ant-abcdefghijklmnopqrstuv0123",
    "xoxb-123456789012-abcdefghijkl",
];

/// Masking twice is masking once, no masked text holds a secret, and one that stands alone on a line never survives.
pub fn redact(data: &[u8]) {
    let mut bytes = Bytes(data);
    let secret = bytes.one_of(&PLANTED);
    let before = String::from_utf8_lossy(bytes.short()).into_owned();
    let after = bytes.text();
    for text in [format!("{before}{after}"), format!("{before}\n{secret}\n{after}")] {
        let once = redact_secrets(&text, SECRET_MASK);
        let twice = redact_secrets(&once, SECRET_MASK);
        assert_eq!(once, twice, "masked twice: {text:?}");
        assert!(!contains_secret(&once), "{once:?} of {text:?}");
        if text.contains(&format!("\n{secret}\n")) {
            // Elsewhere it may be a part of a word, which is none.
            assert!(once.split('\n').all(|line| line != secret), "{secret} survives in {once:?}");
        }
    }
}
