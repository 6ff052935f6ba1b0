//! Character classes shared by the secret scanners and the classifier.
//!
//! contextweaver 0.18 uses Python regular expressions over Unicode text, so its `\w`,
//! `\d` and `\s` differ slightly from the standard library predicates. The differences live here,
//! as compact tables, and nowhere else.

/// Marks the ASCII digits.
pub(super) const DIGIT: u16 = 1;
const UPPER_HEX: u16 = 1 << 1;
const UPPER_REST: u16 = 1 << 2;
const LOWER_HEX: u16 = 1 << 3;
const LOWER_REST: u16 = 1 << 4;
/// Marks the hyphen.
pub(super) const DASH: u16 = 1 << 5;
/// Marks the underscore.
pub(super) const UNDER: u16 = 1 << 6;
/// Marks the dot.
pub(super) const DOT: u16 = 1 << 7;
const PLUS_SLASH: u16 = 1 << 8;
/// Marks the equals sign.
pub(super) const EQUALS: u16 = 1 << 9;
/// Marks the tilde.
pub(super) const TILDE: u16 = 1 << 10;
const OF_PATH: u16 = 1 << 11;
/// Marks the percent sign.
pub(super) const PERCENT: u16 = 1 << 12;
/// Marks the ASCII letters.
pub(super) const LETTER: u16 = UPPER_HEX | UPPER_REST | LOWER_HEX | LOWER_REST;
/// Marks the hexadecimal digits in either case.
pub(super) const HEX: u16 = DIGIT | UPPER_HEX | LOWER_HEX;
/// Marks the ASCII characters `A-Z` and `0-9`.
pub(super) const UPPER: u16 = DIGIT | UPPER_HEX | UPPER_REST;
/// Marks the ASCII letters and digits.
pub(super) const ALNUM: u16 = DIGIT | LETTER;
/// Marks the ASCII letters, digits and the hyphen.
pub(super) const ALNUM_DASH: u16 = ALNUM | DASH;
/// Marks the ASCII letters, digits and the underscore.
pub(super) const ALNUM_UNDER: u16 = ALNUM | UNDER;
/// Marks the URL-safe base64 alphabet.
pub(super) const URLSAFE: u16 = ALNUM | DASH | UNDER;
/// Marks the URL-safe base64 alphabet and the dot, which is also the alphabet of ASCII key names.
pub(super) const DOTTED: u16 = URLSAFE | DOT;
/// Marks the `token68` alphabet that RFC 7235 allows in an authorization header.
pub(super) const TOKEN68: u16 = DOTTED | PLUS_SLASH | EQUALS | TILDE;
/// Marks the standard base64 alphabet with padding.
pub(super) const BASE64: u16 = ALNUM | PLUS_SLASH | EQUALS;
/// Marks what stands in the path and the query of a URL, and the backslash that JSON may have before a slash.
pub(super) const PATH: u16 = TOKEN68 | OF_PATH | PERCENT;

const CLASSES: [u16; 256] = classes();

const fn classes() -> [u16; 256] {
    let mut table = [0; 256];
    let mut code = 0_u8;
    while code < 128 {
        table[code as usize] = match code {
            b'0'..=b'9' => DIGIT,
            b'A'..=b'F' => UPPER_HEX,
            b'G'..=b'Z' => UPPER_REST,
            b'a'..=b'f' => LOWER_HEX,
            b'g'..=b'z' => LOWER_REST,
            b'-' => DASH,
            b'_' => UNDER,
            b'.' => DOT,
            b'+' | b'/' => PLUS_SLASH,
            b'=' => EQUALS,
            b'~' => TILDE,
            b'%' => PERCENT,
            b'@' | b'?' | b'&' | b':' | b'\\' => OF_PATH,
            _ => 0,
        };
        code += 1;
    }
    table
}

/// Gap and extent of each range of characters that `char::is_alphanumeric` accepts and `\w` does
/// not: combining vowel signs and enclosed letters. Gaps count from the end of the previous range.
#[rustfmt::skip]
const NON_WORD_ALNUM: [(u16, u8); 161] = [
    (837, 42), (577, 23), (73, 10), (49, 20), (17, 0), (102, 14), (3, 6), (36, 0), (31, 15),
    (103, 10), (102, 1), (4, 8), (2, 2), (2, 3), (168, 47), (55, 1), (3, 17), (6, 2), (11, 1),
    (30, 2), (59, 14), (11, 0), (11, 1), (30, 2), (59, 19), (31, 1), (4, 14), (59, 14), (22, 1),
    (23, 9), (59, 25), (11, 1), (31, 0), (60, 14), (11, 0), (41, 4), (58, 24), (12, 1), (30, 2),
    (59, 24), (12, 1), (29, 3), (59, 14), (11, 0), (11, 1), (30, 2), (76, 16), (19, 1), (62, 0),
    (3, 6), (19, 0), (100, 0), (3, 8), (17, 0), (164, 18), (10, 47), (111, 19), (24, 3), (5, 2),
    (2, 2), (3, 6), (4, 3), (14, 11), (2, 0), (11, 3), (1653, 1), (31, 1), (31, 1), (31, 1),
    (67, 18), (189, 1), (35, 0), (119, 24), (223, 4), (58, 31), (75, 69), (49, 14), (61, 2),
    (31, 12), (58, 10), (51, 18), (413, 33), (1730, 51), (2295, 31), (30837, 7), (35, 1), (355, 0),
    (9, 0), (24, 4), (89, 1), (51, 17), (58, 0), (39, 4), (29, 11), (46, 3), (49, 11), (38, 0),
    (68, 13), (13, 0), (9, 1), (46, 2), (51, 0), (2, 2), (3, 1), (6, 0), (45, 4), (6, 0), (238, 7),
    (20276, 0), (2136, 4), (1671, 14), (789, 3), (388, 1), (340, 2), (54, 13), (46, 1), (12, 2),
    (46, 18), (62, 2), (37, 11), (19, 1), (58, 2), (49, 12), (15, 1), (93, 18), (161, 9), (24, 3),
    (59, 14), (11, 0), (11, 1), (210, 16), (107, 17), (238, 15), (30, 1), (83, 16), (107, 10),
    (104, 13), (258, 12), (248, 12), (4, 0), (2, 0), (143, 14), (5, 0), (29, 9), (43, 4), (2, 3),
    (19, 10), (47, 13), (408, 15), (84, 36), (123, 18), (4, 0), (67, 12), (349, 3), (20569, 0),
    (2, 65), (94, 1), (19629, 0), (9058, 42), (2333, 0), (2025, 89),
];

/// Code points of every decimal digit zero, each followed by the digits one to nine.
#[rustfmt::skip]
const DIGIT_ZEROS: [u32; 66] = [
    0x30, 0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xDE6,
    0xE50, 0xED0, 0xF20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50,
    0x1BB0, 0x1C40, 0x1C50, 0xA620, 0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10, 0x104A0,
    0x10D30, 0x11066, 0x110F0, 0x11136, 0x111D0, 0x112F0, 0x11450, 0x114D0, 0x11650, 0x116C0,
    0x11730, 0x118E0, 0x11950, 0x11C50, 0x11D50, 0x11DA0, 0x16A60, 0x16AC0, 0x16B50, 0x1D7CE,
    0x1D7D8, 0x1D7E2, 0x1D7EC, 0x1D7F6, 0x1E140, 0x1E2F0, 0x1E950, 0x1FBF0,
];

/// Reports whether what stands next to a byte may be one piece with it: not next to white space, quotes and brackets,
/// and not behind the sign of an assignment.
#[inline]
pub(super) fn binds(byte: Option<u8>) -> bool {
    byte.is_some_and(|b| is(b, PATH) && !matches!(b, b'=' | b':'))
}

/// Counts elementary steps so that tests can prove linear running time.
#[inline]
pub(super) fn tick(steps: usize) {
    #[cfg(test)]
    STEPS.with(|total| total.set(total.get() + steps as u64));
    #[cfg(not(test))]
    let _ = steps;
}

#[cfg(test)]
thread_local! {
    /// Steps taken by the scanners on this thread.
    pub(super) static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Reports whether an ASCII byte belongs to a class.
pub(super) fn is(byte: u8, class: u16) -> bool {
    CLASSES[usize::from(byte)] & class != 0
}

/// Reports whether a character is matched by `\w`.
pub(crate) fn is_word(c: char) -> bool {
    if c.is_ascii() {
        return is(c as u8, ALNUM_UNDER);
    }
    if !c.is_alphanumeric() {
        return false;
    }
    let code = u32::from(c);
    let mut at = 0;
    for (gap, extent) in NON_WORD_ALNUM {
        at += u32::from(gap);
        if code < at {
            return true;
        }
        at += u32::from(extent);
        if code <= at {
            return false;
        }
    }
    true
}

/// Reports whether a character is matched by `\s`, which includes the four ASCII separators.
pub(super) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// Returns the value of a decimal digit of any script.
pub(crate) fn digit(c: char) -> Option<u32> {
    let code = u32::from(c);
    if code < 0x80 {
        return c.to_digit(10);
    }
    let above = DIGIT_ZEROS.partition_point(|&zero| zero <= code);
    let zero = DIGIT_ZEROS.get(above.checked_sub(1)?)?;
    Some(code - zero).filter(|&value| value < 10)
}

/// Returns the byte at an offset.
pub(super) fn byte(text: &str, at: usize) -> Option<u8> {
    text.as_bytes().get(at).copied()
}

/// Returns the text from an offset, or nothing when the offset is not a boundary.
pub(super) fn rest(text: &str, from: usize) -> &str {
    text.get(from..).unwrap_or("")
}

/// Returns the text between two offsets, or nothing when they are not boundaries.
pub(super) fn part(text: &str, from: usize, to: usize) -> &str {
    text.get(from..to).unwrap_or("")
}

/// Returns the character that ends at an offset.
pub(crate) fn before(text: &str, at: usize) -> Option<char> {
    part(text, 0, at).chars().next_back()
}

/// Returns the character that starts at an offset.
pub(crate) fn after(text: &str, at: usize) -> Option<char> {
    rest(text, at).chars().next()
}

/// Returns the end of the run of one class that starts at an offset.
pub(super) fn run(text: &str, from: usize, class: u16, limit: usize) -> usize {
    let bytes = text.as_bytes().get(from..).unwrap_or_default();
    let length = bytes.iter().take(limit).take_while(|&&b| is(b, class)).count();
    tick(length + 1);
    from + length
}

/// Returns the start of the run of one class that ends at an offset, looking back a limited way.
pub(super) fn run_back(text: &str, to: usize, class: u16, limit: usize) -> usize {
    let bytes = text.as_bytes().get(..to).unwrap_or_default();
    let length = bytes.iter().rev().take(limit).take_while(|&&b| is(b, class)).count();
    tick(length + 1);
    to - length
}

/// Returns the offset of the first character that is not white space.
pub(super) fn skip_space(text: &str, from: usize) -> usize {
    if byte(text, from).is_some_and(|b| b.is_ascii_graphic()) {
        tick(1);
        return from;
    }
    let tail = rest(text, from);
    let length = tail.len() - tail.trim_start_matches(is_space).len();
    tick(length + 1);
    from + length
}

/// Returns the offset after the last character that is not white space, never below the floor.
pub(super) fn skip_space_back(text: &str, floor: usize, to: usize) -> usize {
    if to > floor && byte(text, to - 1).is_some_and(|b| b.is_ascii_graphic()) {
        tick(1);
        return to;
    }
    let kept = part(text, floor, to).trim_end_matches(is_space).len();
    tick(to.saturating_sub(floor + kept) + 1);
    floor + kept
}

/// Returns the end of the backslashes at an offset, at most four: those of an escape in JSON inside JSON inside JSON.
pub(super) fn skip_slashes(text: &str, from: usize) -> usize {
    let slashes = rest(text, from).bytes().take(4).take_while(|&b| b == b'\\').count();
    from + slashes
}

/// Reports whether text at an offset starts with a lower-case ASCII word, ignoring ASCII case.
pub(super) fn starts_ignoring_case(text: &str, at: usize, word: &str) -> bool {
    text.as_bytes().get(at..at + word.len()).is_some_and(|bytes| bytes.eq_ignore_ascii_case(word.as_bytes()))
}
