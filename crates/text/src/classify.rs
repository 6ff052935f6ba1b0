//! Tells how sensitive a text is.
//!
//! A secret makes a text restricted; personal data makes it confidential: card numbers and social security numbers that
//! could have been issued, and e-mail addresses where the caller chooses so.

use super::redact::{after, before, contains_secret, digit, is_word, read};

/// Level of sensitivity that the content of a text calls for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DetectedLevel {
    /// Holds nothing that calls for protection.
    Public,
    /// Holds personal data.
    Confidential,
    /// Holds a secret.
    Restricted,
}

impl DetectedLevel {
    /// Returns the position on the four-level scale of the pipeline, where `internal` is 1.
    #[must_use]
    pub const fn rank(self) -> u8 {
        match self {
            Self::Public => 0,
            Self::Confidential => 2,
            Self::Restricted => 3,
        }
    }

    /// Returns the name of the level.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Confidential => "confidential",
            Self::Restricted => "restricted",
        }
    }
}

/// Selects the rules of the classifier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassifierRules {
    /// Treats an e-mail address as confidential.
    pub pii: bool,
}

/// Most digits of a card number.
const MAX_CARD: usize = 19;

/// Returns the level that the content of a text calls for.
///
/// ```
/// use contextweaver_text::{ClassifierRules, DetectedLevel, detect};
///
/// let rules = ClassifierRules { pii: true };
/// assert_eq!(detect("Write to bob@example.com", rules), DetectedLevel::Confidential);
/// assert_eq!(detect("password=hunter22", rules), DetectedLevel::Restricted);
/// assert_eq!(detect("It is raining", rules), DetectedLevel::Public);
/// ```
#[must_use]
pub fn detect(text: &str, rules: ClassifierRules) -> DetectedLevel {
    if contains_secret(text) {
        return DetectedLevel::Restricted;
    }
    let personal = |text: &str| rules.pii && has_email(text) || has_number(text);
    let found = read(text).any(|text| personal(&text));
    if found { DetectedLevel::Confidential } else { DetectedLevel::Public }
}

/// Reports whether a text contains an e-mail address.
///
/// Around each `@` there have to be a word character in the run of local characters before it, a
/// domain label and a dot after it, and a word character in the run that follows.
fn has_email(text: &str) -> bool {
    text.match_indices('@').any(|(at, _)| {
        let (local, domain) = text.split_at(at);
        let local = local.chars().rev();
        let local = local.take_while(|&c| is_word(c) || matches!(c, '.' | '+' | '-'));
        if !{ local }.any(is_word) {
            return false;
        }
        let domain = domain.get(1..).unwrap_or("");
        let host = domain.trim_start_matches(|c| is_word(c) || c == '-');
        let Some(tail) = host.strip_prefix('.').filter(|_| host.len() < domain.len()) else {
            return false;
        };
        tail.trim_start_matches(['.', '-']).starts_with(is_word)
    })
}

/// Reports whether a text contains a card number or a social security number.
///
/// Every number starts at a digit behind a word edge and is examined over a bounded length.
fn has_number(text: &str) -> bool {
    let mut previous = None;
    text.char_indices().any(|(at, c)| {
        let inside = previous.is_some_and(is_word);
        previous = Some(c);
        if inside || c.is_ascii() && !c.is_ascii_digit() || digit(c).is_none() {
            return false;
        }
        let tail = text.get(at..).unwrap_or("");
        is_ssn(text, at) || is_card(tail)
    })
}

/// Matches `ddd-dd-dddd` up to a word edge and returns the three numbers and the rest.
fn ssn_parts(tail: &str) -> Option<([u32; 3], &str)> {
    let mut chars = tail.chars();
    let mut numbers = [0; 3];
    for (number, length) in numbers.iter_mut().zip([3, 2, 4]) {
        if length != 3 {
            chars.next().filter(|&c| c == '-')?;
        }
        for _ in 0..length {
            *number = *number * 10 + digit(chars.next()?)?;
        }
    }
    let left = chars.as_str();
    (!left.starts_with(is_word)).then_some((numbers, left))
}

/// Reports whether a number that could have been issued as a social security number starts here.
fn is_ssn(text: &str, at: usize) -> bool {
    let Some(([area, group, serial], left)) = text.get(at..).and_then(ssn_parts) else {
        return false;
    };
    let chained =
        matches!(before(text, at), Some('-' | '.')) || left.starts_with('-') && after(left, 1).is_some_and(is_word);
    !chained && !matches!(area, 0 | 666 | 900..) && group != 0 && serial != 0
}

/// Reads digits, each optionally followed by one space or hyphen, and reports every word edge.
///
/// The callback gets the digits so far and the lengths of the groups between separators.
fn any_number(tail: &str, mut accept: impl FnMut(&[u8], &[usize]) -> bool) -> bool {
    let (mut digits, mut groups) = (Vec::with_capacity(MAX_CARD), vec![0]);
    let mut chars = tail.chars().peekable();
    while let Some(value) = chars.peek().and_then(|&c| digit(c)) {
        if digits.len() == MAX_CARD {
            return false;
        }
        chars.next();
        digits.push(u8::try_from(value).unwrap_or_default());
        if let Some(last) = groups.last_mut() {
            *last += 1;
        }
        if !chars.peek().is_some_and(|&c| is_word(c)) && accept(&digits, &groups) {
            return true;
        }
        if chars.next_if(|&c| matches!(c, ' ' | '-')).is_some() {
            groups.push(0);
        }
    }
    false
}

/// Reports whether a plausible card number with a correct check digit starts here.
///
/// Cards are printed in groups of at least four digits, except for the last one. No card starts
/// with 0, 1, 7, 8 or 9, which rules out time stamps in milliseconds.
fn is_card(tail: &str) -> bool {
    any_number(tail, |digits, groups| {
        let issuer = match digits.first() {
            Some(4) => 13..=MAX_CARD,
            Some(2) => 16..=16,
            Some(3 | 5 | 6) => 14..=MAX_CARD,
            _ => return false,
        };
        let whole = groups.split_last().is_some_and(|(_, head)| head.iter().all(|&n| n >= 4));
        let varied = digits.iter().any(|&d| Some(&d) != digits.first());
        whole && varied && issuer.contains(&digits.len()) && luhn(digits)
    })
}

/// Checks the last digit of a card number.
fn luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(at, &d)| {
            let d = u32::from(d) << (at % 2);
            if d > 9 { d - 9 } else { d }
        })
        .sum();
    sum.is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use super::DetectedLevel::{Confidential, Public, Restricted};
    use super::*;

    const FULL: ClassifierRules = ClassifierRules { pii: false };
    const PII: ClassifierRules = ClassifierRules { pii: true };

    #[test]
    fn levels_by_rule_set() {
        for (text, full, pii) in [
            ("", Public, Public),
            ("hello there", Public, Public),
            ("password=hunter22", Restricted, Restricted),
            ("max_tokens: 100000", Public, Public),
            ("bob@example.com", Public, Confidential),
            ("<a.b+c@sub.example.co.uk>", Public, Confidential),
            ("bob@localhost", Public, Public),
            ("++@x.y", Public, Public),
            ("a@.b", Public, Public),
            ("a@b.-", Public, Public),
            ("4111 1111 1111 1111", Confidential, Confidential),
            ("4111-1111-1111-1111.", Confidential, Confidential),
            ("3782 822463 10005", Confidential, Confidential),
            ("4111 1111 1111 1112", Public, Public),
            ("x4111111111111111", Public, Public),
            ("at 1700000000000", Public, Public),
            ("0000000000000000", Public, Public),
            ("\u{664}\u{661}11111111111111", Confidential, Confidential),
            ("1 2 3 4 5 6 7 8 9 0 1 2 3 4", Public, Public),
            ("123-45-6789", Confidential, Confidential),
            ("666-45-6789", Public, Public),
            ("900-45-6789", Public, Public),
            ("123-00-6789", Public, Public),
            ("123-45-0000", Public, Public),
            ("123-45-6789-1", Public, Public),
            ("1123-45-6789", Public, Public),
            ("\u{1b}[32m4111 1111 1111 1111\u{1b}[0m", Confidential, Confidential),
            ("\u{1b}[1m123-\u{1b}[0m45-6789", Confidential, Confidential),
        ] {
            assert_eq!(detect(text, FULL), full, "full {text:?}");
            assert_eq!(detect(text, PII), pii, "pii {text:?}");
        }
        assert!(Public < Confidential && Confidential < Restricted);
        assert_eq!(Restricted.as_str(), "restricted");
        assert_eq!(Confidential.rank(), 2);
    }
}
