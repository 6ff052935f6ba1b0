//! Summaries by rules.

use serde_json::Value;

use super::structured::parse_container;
use contextweaver_base::limits;
use contextweaver_model::json::type_name;
use contextweaver_text::lines::{lines, slice_range};
use contextweaver_text::unicode::{self, is_word};

/// Words that make a line worth showing, sorted.
const SIGNALS: &[&str] = &["count", "error", "exception", "failed", "result", "status", "success", "total", "warning"];
/// Letters of the longest of [`SIGNALS`].
const MAX_SIGNAL_CHARS: usize = 9;

/// Keys of an object that are named.
const KEYS: usize = 20;
/// Keys whose type is named.
const TYPED_KEYS: usize = 5;
/// Keys of the elements of a list that are named.
const ITEM_KEYS: usize = 10;

/// Stands between the two ends of a long text.
const CUT: &str = "\n[...truncated...]\n";
/// Characters set aside for [`CUT`].
const CUT_CHARS: i64 = 20;

/// Summarises a text without a model: the outline of JSON, the telling lines of a log, or both ends.
#[derive(Debug, Clone)]
pub struct RuleBasedSummarizer {
    /// Most characters of the summary.
    pub max_chars: usize,
}

impl Default for RuleBasedSummarizer {
    fn default() -> Self {
        Self { max_chars: limits::SUMMARY_CHARS }
    }
}

impl RuleBasedSummarizer {
    /// Returns the outline of JSON, the telling lines of other text, or both of its ends.
    ///
    /// ```
    /// use contextweaver_content::extract::RuleBasedSummarizer;
    ///
    /// let summary = RuleBasedSummarizer::default().summarize("started\nstep 1\nerror: disk full\n");
    /// assert_eq!(summary, "error: disk full");
    /// ```
    pub fn summarize(&self, text: &str) -> String {
        let text = unicode::trim(text);
        let summary = match parse_container(text) {
            _ if text.is_empty() => "(empty)".to_owned(),
            Some(json) => return unicode::prefix(&Self::outline(&json), self.max_chars).to_owned(),
            None => self.telling_lines(text).unwrap_or_else(|| self.both_ends(text)),
        };
        unicode::prefix(&summary, self.max_chars).to_owned()
    }

    /// The cap as a number to subtract from: what is left of small ones is negative.
    fn cap(&self) -> i64 {
        i64::try_from(self.max_chars).unwrap_or(i64::MAX)
    }

    fn outline(json: &Value) -> String {
        match json {
            Value::Object(map) => {
                let keys: Vec<&str> = map.keys().take(KEYS).map(String::as_str).collect();
                let mut out = format!("JSON object with {} key(s): {}", map.len(), keys.join(", "));
                for (key, value) in map.iter().take(TYPED_KEYS) {
                    for part in ["\n  ", key, ": ", type_name(value)] {
                        out.push_str(part);
                    }
                }
                out
            }
            Value::Array(list) => {
                let mut out = format!("JSON array with {} item(s)", list.len());
                if let Some(Value::Object(first)) = list.first() {
                    let keys: Vec<&str> = first.keys().take(ITEM_KEYS).map(String::as_str).collect();
                    out.push_str("\n  item keys: ");
                    out.push_str(&keys.join(", "));
                }
                out
            }
            _ => String::new(),
        }
    }

    fn telling_lines(&self, text: &str) -> Option<String> {
        let telling: Vec<&str> = lines(text).filter(|line| has_signal(line)).map(unicode::trim).collect();
        if telling.is_empty() {
            return None;
        }
        let joined = telling.join("\n");
        let chars = joined.chars().count();
        if chars <= self.max_chars {
            return Some(joined);
        }
        let kept = slice_range(chars, None, Some(self.cap() - 3)).end;
        Some(format!("{}...", unicode::prefix(&joined, kept)))
    }

    fn both_ends(&self, text: &str) -> String {
        let chars = text.chars().count();
        if chars <= self.max_chars {
            return text.to_owned();
        }
        let half = (self.cap() - CUT_CHARS).div_euclid(2);
        if half <= 0 {
            // No room for two ends and the mark between them.
            return text.to_owned();
        }
        let head = slice_range(chars, None, Some(half)).end;
        let tail = slice_range(chars, Some(-half), None).start;
        let tail = text.char_indices().nth(tail).map_or("", |(at, _)| &text[at..]);
        [unicode::prefix(text, head), CUT, tail].concat()
    }
}

/// Tells whether a line has one of [`SIGNALS`] as a whole word, in any case.
fn has_signal(line: &str) -> bool {
    line.split(|ch| !is_word(ch)).any(|word| {
        // The long s is a small s as well.
        let letters = word.chars().map(|ch| if ch == 'ſ' { 's' } else { ch.to_ascii_lowercase() });
        let lower: String = letters.take(MAX_SIGNAL_CHARS + 1).collect();
        SIGNALS.binary_search(&lower.as_str()).is_ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(text: &str, max_chars: usize) -> String {
        RuleBasedSummarizer { max_chars }.summarize(text)
    }

    #[test]
    fn telling_words_stand_alone() {
        assert!(SIGNALS.is_sorted());
        assert!(SIGNALS.iter().all(|word| word.len() <= MAX_SIGNAL_CHARS));
        for (line, expected) in [
            ("an ERROR-free run", true),
            ("ſucceſſ", true),
            ("no\u{b}status here", true),
            ("errors _error error_ error1 erroré exceptional", false),
        ] {
            assert_eq!(has_signal(line), expected, "{line}");
        }
        assert_eq!(summary("x\n \tTotal: 5 \u{b}y\nfailed", 500), "Total: 5\nfailed");
    }

    #[test]
    fn a_hard_cap_holds() {
        let alphabet = "abcdefghijklmnopqrstuvwxyz";
        let table = [
            (alphabet, 5, "abcde"),
            (alphabet, 19, "abcdefghijklmnopqrs"),
            (alphabet, 21, "abcdefghijklmnopqrstu"),
            (alphabet, 23, "a\n[...truncated...]\nz"),
            ("error line\nabc", 2, "er"),
            ("error line\nabc", 3, "..."),
            ("error line\nabc", 5, "er..."),
            ("  ", 3, "(em"),
            ("{\"k\": null}", 34, "JSON object with 1 key(s): k\n  k: "),
            ("{\"k\": null}", 500, "JSON object with 1 key(s): k\n  k: null"),
        ];
        for (text, max_chars, wanted) in table {
            assert_eq!(summary(text, max_chars), wanted, "{text} {max_chars}");
        }
    }
}
