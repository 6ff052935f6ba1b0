//! The media type of bytes nobody described.

use contextweaver_content::extract::parse_container;
use contextweaver_text::lines::lines;
use contextweaver_text::unicode::{self, is_word};

/// The type that says nothing.
const UNKNOWN: &str = "application/octet-stream";
/// Lines that are looked at for a delimiter.
const SAMPLE_LINES: usize = 5;

/// Returns the media type of bytes declared as `declared`: any declaration is trusted, unless it says nothing.
///
/// Prose, logs and lines of JSON easily pass for tables: any character that is on each line equally often counts as
/// a delimiter.
pub fn detect<'a>(bytes: &[u8], declared: &'a str) -> &'a str {
    if declared != UNKNOWN {
        return declared;
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return declared };
    let text = unicode::trim(text);
    if parse_container(text).is_some() {
        "application/json"
    } else if is_delimited(text) {
        "text/csv"
    } else {
        "text/plain"
    }
}

fn is_delimited(text: &str) -> bool {
    let sample: Vec<&str> = lines(text).take(SAMPLE_LINES).collect();
    sample.len() > 1 && (has_quoted_field(&sample.join("\n")) || has_even_character(&sample))
}

/// Tells whether an ASCII character is on every line that is not empty, and equally often.
fn has_even_character(sample: &[&str]) -> bool {
    let mut even: Option<[usize; 127]> = None;
    for line in sample.iter().filter(|line| !line.is_empty()) {
        let mut counts = [0; 127];
        for byte in line.bytes().map(usize::from).filter(|byte| *byte < 127) {
            counts[byte] += 1;
        }
        let even = even.get_or_insert(counts);
        for (count, other) in even.iter_mut().zip(counts) {
            if *count != other {
                *count = 0;
            }
        }
    }
    even.is_some_and(|counts| counts.iter().any(|count| *count > 0))
}

/// Tells whether a text has something in quotes that a delimiter sets off: on both sides the same one, or on one
/// side and the edge of a line on the other. Anything but letters, digits, quotes and line feeds is a delimiter, and
/// what is in quotes may go over lines.
fn has_quoted_field(sample: &str) -> bool {
    let is_delimiter = |ch: char| !is_word(ch) && !matches!(ch, '\n' | '"' | '\'');
    if !sample.contains(['"', '\'']) {
        return false;
    }
    // Which delimiters stood before an opening quote of a kind, one bit each: a set of any size in one piece.
    let mut opened_after = [vec![0_u8; 0x11_0000 / 8], vec![0_u8; 0x11_0000 / 8]];
    let mut opened_anywhere = [false; 2];
    let mut opened_at_start = [false; 2];
    let mut before = ['\n'; 2];
    let mut chars = sample.chars().peekable();
    while let Some(ch) = chars.next() {
        if let '"' | '\'' = ch {
            let kind = usize::from(ch == '"');
            let bit = |delimiter: char| (delimiter as usize / 8, 1_u8 << (delimiter as usize % 8));
            let closes = match chars.peek().copied().unwrap_or('\n') {
                '\n' => opened_anywhere[kind],
                next if is_delimiter(next) => {
                    let (at, mask) = bit(next);
                    opened_at_start[kind] || opened_after[kind][at] & mask != 0
                }
                _ => false,
            };
            if closes {
                return true;
            }
            opened_at_start[kind] |= before[1] == '\n';
            // One space may stand between a delimiter and the quote.
            for delimiter in [before[1], if before[1] == ' ' { before[0] } else { '\n' }] {
                if is_delimiter(delimiter) {
                    let (at, mask) = bit(delimiter);
                    opened_after[kind][at] |= mask;
                    opened_anywhere[kind] = true;
                }
            }
        }
        before = [before[1], ch];
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_say_nothing_are_looked_at() {
        let table: &[(&str, &str)] = &[
            (" {\"a\":1}\n", "application/json"),
            ("\u{feff}{}", "text/plain"),
            ("{\"a\":1}\n{\"a\":2}", "text/csv"),
            ("hello world foo\nthis is prose text", "text/csv"),
            ("\n\nabc\n\n", "text/plain"),
            ("a\n\n\n\n\nb", "text/csv"),
            ("ab\ncd", "text/plain"),
            ("éa\néb", "text/plain"),
            ("zz\u{2028}zz", "text/csv"),
            ("say \"hi\" to", "text/plain"),
            ("say \"hi\" to\nxyzw", "text/csv"),
            ("x\n\"abc\",\nyy", "text/csv"),
            ("x\n\"abc\"\nyy", "text/plain"),
            ("x;  \"abc\"\nyz", "text/csv"),
            ("xx;\"abc\"y\"z\nqw", "text/plain"),
            ("", "text/plain"),
        ];
        for (text, expected) in table {
            assert_eq!(&detect(text.as_bytes(), UNKNOWN), expected, "{text:?}");
        }
        assert_eq!(detect(b"\xff", UNKNOWN), UNKNOWN);
        assert_eq!(detect(b"{}", "Text/CSV"), "Text/CSV");
    }

    /// Were a text read from each of its quotes on, this would take hours.
    #[test]
    fn hostile_texts_are_read_once() {
        for (unit, expected) in
            [(",\"", "text/csv"), ("\",", "text/csv"), (",'a", "text/plain"), ("\u{1f600}\"x", "text/plain")]
        {
            let text = format!("a\n{}", unit.repeat(2_000_000));
            assert_eq!(detect(text.as_bytes(), UNKNOWN), expected, "{unit}");
        }
    }
}
