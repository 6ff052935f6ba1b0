//! Things that stand out of a text: headings, addresses, numbers. All found in one pass, each distinct one once.

use contextweaver_text::lines::lines;
use contextweaver_text::unicode::{self, is_digit, is_space, is_word};

/// Headings and addresses that are named.
const FEW: usize = 5;
/// Numbers that are named.
const NUMBERS: usize = 10;

/// Finds the first lines that start with `#` or are written in capitals.
pub fn sections(text: &str) -> Vec<&str> {
    lines(text).map(unicode::trim).filter(|line| line.starts_with('#') || is_upper(line)).take(FEW).collect()
}

/// Tells whether a line has a capital and no small or title-case letter.
fn is_upper(line: &str) -> bool {
    let mut has_capital = false;
    for ch in line.chars() {
        if ch.is_uppercase() {
            has_capital = true;
        } else if ch.is_lowercase() || ch.to_lowercase().next() != Some(ch) {
            // Neither a capital nor small, yet with a small form: title case, such as `ǅ`.
            return false;
        }
    }
    has_capital
}

/// The first few of many texts in sorted order, each once; what cannot be among them is not kept.
struct FirstSorted<'a> {
    limit: usize,
    found: Vec<&'a str>,
}

impl<'a> FirstSorted<'a> {
    fn new(limit: usize) -> Self {
        Self { limit, found: Vec::new() }
    }

    fn add(&mut self, text: &'a str) {
        if let Err(at) = self.found.binary_search(&text)
            && at < self.limit
        {
            self.found.insert(at, text);
            self.found.truncate(self.limit);
        }
    }
}

/// Finds e-mail addresses.
pub fn emails(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let is_domain = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
    let is_local = |byte: &&u8| is_domain(byte) || matches!(byte, b'_' | b'%' | b'+');
    let mut found = FirstSorted::new(FEW);
    let mut from = 0;
    for (at, _) in text.match_indices('@') {
        let start = at - bytes[from..at].iter().rev().take_while(is_local).count();
        let domain = &bytes[at + 1..];
        let domain = &domain[..domain.iter().take_while(is_domain).count()];
        if let Some(end) = domain_end(domain).filter(|_| start < at) {
            from = at + 1 + end;
            found.add(&text[start..from]);
        }
    }
    found.found
}

/// Ends a domain after the letters that follow its last dot with at least two of them.
fn domain_end(domain: &[u8]) -> Option<usize> {
    let letters = |dot: usize| domain[dot + 1..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    // Windows of a dot and two letters, so that a long row of dots is not counted again and again.
    let is_end = |window: &[u8]| window[0] == b'.' && window[1..].iter().all(u8::is_ascii_alphabetic);
    let dot = 1 + domain.get(1..)?.windows(3).rposition(is_end)?;
    Some(dot + 1 + letters(dot))
}

/// Finds `http` and `https` addresses.
pub fn urls(text: &str) -> Vec<&str> {
    let mut found = FirstSorted::new(FEW);
    let mut from = 0;
    for (at, scheme) in text.match_indices("http") {
        let rest = &text[at + scheme.len()..];
        let Some(rest) = rest.strip_prefix('s').unwrap_or(rest).strip_prefix("://").filter(|_| at >= from) else {
            continue;
        };
        let length = rest.find(|ch| is_space(ch) || matches!(ch, '<' | '>' | '"' | '\'')).unwrap_or(rest.len());
        if length > 0 {
            from = text.len() - rest.len() + length;
            found.add(&text[at..from]);
        }
    }
    found.found
}

/// Finds numbers with their `,` and `.`, where no letter stands beside; they are sorted as texts.
pub fn numbers(text: &str) -> Vec<&str> {
    let mut found = FirstSorted::new(NUMBERS);
    let mut at = 0;
    while let Some(skipped) = text[at..].find(is_digit) {
        let start = at + skipped;
        let rest = &text[start..];
        let run = &rest[..rest.find(|ch| !is_digit(ch) && !matches!(ch, ',' | '.')).unwrap_or(rest.len())];
        let stands_free = !text[..start].chars().next_back().is_some_and(is_word);
        if let Some(end) = last_boundary(run, rest[run.len()..].chars().next()).filter(|_| stands_free) {
            found.add(&run[..end]);
            at = start + end;
        } else {
            at = start + run.find(|ch| !is_digit(ch)).unwrap_or(run.len());
        }
    }
    found.found
}

/// Finds the last place of a run of digits, `,` and `.` where a word starts or ends.
fn last_boundary(run: &str, after: Option<char>) -> Option<usize> {
    let mut next_is_word = after.is_some_and(is_word);
    for (at, ch) in run.char_indices().rev() {
        if is_digit(ch) != next_is_word {
            return Some(at + ch.len_utf8());
        }
        next_is_word = is_digit(ch);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_are_found_in_one_pass() {
        type Find = fn(&str) -> Vec<&str>;
        let table: &[(Find, &str, &[&str])] = &[
            (emails, "x@y.com1 xa@b.co. a@b.c a@@b.co é@b.com", &["x@y.com", "xa@b.co"]),
            (emails, "a@b.com.1x@c.dd, a@b.c.de..x a@.co", &[".1x@c.dd", "a@b.c.de", "a@b.com"]),
            (
                urls,
                "xhttps://a HTTPS://A http:// https://d'b http://httphttp://é\u{a0}",
                &["http://httphttp://é", "https://a", "https://d"],
            ),
            (numbers, "1,. 1.a 1..2 a1 1,,,,2a 5٣ 1e5 1_0 ½ 5½ -7%", &["1", "1,,,,", "1.", "1..2", "5٣", "7"]),
            (sections, "# a\nA\nǅ A\nⒶ\n1\nA1 \nAb", &["# a", "A", "Ⓐ", "A1"]),
        ];
        for (find, text, expected) in table {
            assert_eq!(&find(text), expected, "{text}");
        }
    }

    /// Were a text read from each of its places on, this would take hours.
    #[test]
    fn hostile_texts_are_read_once() {
        type Find = fn(&str) -> Vec<&str>;
        let table: &[(Find, String, &[usize])] = &[
            (emails, "@".repeat(2_000_000), &[]),
            (emails, "a@".repeat(2_000_000), &[]),
            (emails, "a@b.. ".repeat(1_000_000), &[]),
            (urls, "http://".repeat(1_000_000), &[7_000_000]),
            (urls, "http".repeat(1_000_000), &[]),
            (numbers, "1,".repeat(2_000_000), &[3_999_999]),
            (numbers, "1, ".repeat(1_000_000), &[1]),
            // Between letters, the first and the last digit are no numbers.
            (numbers, format!("a{}a", "1,".repeat(2_000_000)), &[3_999_998]),
        ];
        for (find, text, bytes) in table {
            let found: Vec<usize> = find(text).iter().map(|found| found.len()).collect();
            assert_eq!(&found, bytes, "{}", &text[..8]);
        }
    }
}
