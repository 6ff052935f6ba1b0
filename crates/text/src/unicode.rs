//! Code points that need care: invisible ones, white space, and cutting text without breaking it.

use std::borrow::Cow;

/// Tells whether a code point shows nothing or reorders its surroundings: bidi controls, zero-width characters,
/// tags, variation selectors, fillers, soft hyphen.
pub const fn is_invisible(ch: char) -> bool {
    matches!(
        ch,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Tells whether a code point looks like nothing: white space, controls, what is invisible, and symbols without ink, such
/// as the braille pattern without dots.
///
/// ```
/// use contextweaver_text::unicode::is_blank;
///
/// assert!("\u{2800}\u{3000}\u{200b}\u{1d159}\t".chars().all(is_blank));
/// assert!(!"[⠁".chars().any(is_blank));
/// ```
pub fn is_blank(ch: char) -> bool {
    let has_no_ink = matches!(
        ch,
        '\u{2800}'
            | '\u{13430}'..='\u{1343f}'
            | '\u{16fe4}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d159}'
            | '\u{1d173}'..='\u{1d17a}'
    );
    has_no_ink || is_space(ch) || ch.is_control() || is_invisible(ch)
}

/// Tells whether a code point is white space as Python's `str.strip` sees it (Unicode white space and 1C to 1F).
pub fn is_space(ch: char) -> bool {
    ch.is_whitespace() || matches!(ch, '\u{1c}'..='\u{1f}')
}

/// Tells whether a code point is part of a word: letters, numbers and `_`.
pub fn is_word(ch: char) -> bool {
    ch == '_' || ch.is_alphanumeric()
}

/// Zeros of the decimal digits (Unicode category Nd); nine more follow each. Sorted.
const ZEROS: &[u32] = &[
    0x30, 0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xDE6, 0xE50, 0xED0,
    0xF20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50, 0x1BB0, 0x1C40, 0x1C50, 0xA620,
    0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10, 0x104A0, 0x10D30, 0x11066, 0x110F0, 0x11136, 0x111D0,
    0x112F0, 0x11450, 0x114D0, 0x11650, 0x116C0, 0x11730, 0x118E0, 0x11950, 0x11C50, 0x11D50, 0x11DA0, 0x16A60,
    0x16AC0, 0x16B50, 0x1D7CE, 0x1D7D8, 0x1D7E2, 0x1D7EC, 0x1D7F6, 0x1E140, 0x1E2F0, 0x1E950, 0x1FBF0,
];

/// Tells whether a code point is a decimal digit of any script; `½`, `²` and `Ⅷ` are numbers but no digits.
pub fn is_digit(ch: char) -> bool {
    if ch.is_ascii() {
        return ch.is_ascii_digit();
    }
    let after = ZEROS.partition_point(|zero| *zero <= ch as u32);
    after > 0 && ch as u32 - ZEROS[after - 1] < 10
}

/// Trims white space of [`is_space`] from both ends.
pub fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// Returns the longest prefix of at most `chars` code points.
pub fn prefix(text: &str, chars: usize) -> &str {
    match text.char_indices().nth(chars) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// Returns the last boundary between code points at or before a byte. The standard library has the same from Rust 1.91 on.
///
/// ```
/// use contextweaver_text::unicode::floor_char_boundary;
///
/// // The `ö` is two bytes.
/// assert_eq!(floor_char_boundary("schön", 4), 3);
/// assert_eq!(floor_char_boundary("schön", 100), 6);
/// ```
pub fn floor_char_boundary(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Returns the last place up to a byte where a text may be cut without parting a word, a number, a time or a path: beside
/// white space, else behind a separator. A token that reaches over three quarters of the text up to there is parted, as
/// nothing would be left otherwise.
///
/// ```
/// use contextweaver_text::unicode::token_boundary;
///
/// let line = "at 2026-03-01T10:00:00,123 order 4711";
/// assert_eq!(&line[..token_boundary(line, 34)], "at 2026-03-01T10:00:00,123 order ");
/// assert_eq!(&line[..token_boundary(line, 28)], "at 2026-03-01T10:00:00,123 ");
/// assert_eq!(token_boundary("{\"id\":17,\"state\":\"paid\"}", 14), 9);
/// assert_eq!(token_boundary("0123456789", 5), 5);
/// assert_eq!(token_boundary("short", 100), 5);
/// ```
pub fn token_boundary(text: &str, at: usize) -> usize {
    let at = floor_char_boundary(text, at);
    if at == text.len() {
        return at;
    }
    let mut separator = None;
    let mut places = text[..at].char_indices().rev().peekable();
    let mut next = text[at..].chars().next().unwrap_or(' ');
    while let Some((place, before)) = places.next() {
        let end = place + before.len_utf8();
        if end < at / 4 || end == 0 {
            break;
        }
        if before.is_whitespace() || next.is_whitespace() {
            return end;
        }
        // A comma parts thousands and, in times, milliseconds.
        let in_number = next.is_ascii_digit() && places.peek().is_some_and(|(_, digit)| digit.is_ascii_digit());
        let is_wide = |ch: char| ch >= '\u{2e80}';
        let parts = match before {
            ',' => !in_number,
            ';' | '{' | '}' | '(' | ')' | '[' | ']' | '|' | '<' | '>' | '&' | '=' => true,
            _ => is_wide(before) || is_wide(next),
        };
        if parts && separator.is_none() {
            separator = Some(end);
        }
        next = before;
    }
    separator.unwrap_or(at)
}

/// Cuts text to `chars` code points and marks the cut with `…`; shorter text is unchanged.
///
/// ```
/// use contextweaver_text::unicode::truncate;
///
/// assert_eq!(truncate("Wetter", 3), "Wet…");
/// assert_eq!(truncate("Wetter", 6), "Wetter");
/// ```
pub fn truncate(text: &str, chars: usize) -> String {
    let cut = prefix(text, chars);
    if cut.len() == text.len() { text.to_owned() } else { format!("{cut}…") }
}

/// Makes text safe to show and to compare: invisible code points, terminal escapes and control characters other than
/// line feed and tab become visible `\u{…}` escapes; carriage returns become line feeds.
///
/// Joiners inside emoji and of scripts that need them become visible too: correctness over beauty. Idempotent, linear.
///
/// ```
/// use contextweaver_text::unicode::sanitize;
///
/// // A right-to-left override would reorder what follows.
/// assert_eq!(sanitize("a\u{202e}b\r\n"), "a\\u{202e}b\n");
/// ```
pub fn sanitize(text: &str) -> String {
    let hides = |ch: char| {
        (ch.is_control() && !matches!(ch, '\t' | '\n')) || is_invisible(ch) || matches!(ch, '\u{2028}' | '\u{2029}')
    };
    escaped(text, hides)
}

/// Writes what hides as `\u{…}`, and carriage returns as line feeds.
fn escaped(text: &str, hides: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(ch) = chars.next() {
        match ch {
            '\r' if chars.peek() == Some(&'\n') => {}
            '\r' => out.push('\n'),
            _ if hides(ch) => out.extend(ch.escape_unicode()),
            _ => out.push(ch),
        }
    }
    out
}

/// Makes what hides in a text visible as `\u{…}`: controls other than tabs and line feeds, other line ends of Unicode, marks
/// that turn the direction of what follows, zero-width spaces and tags. Colours are left out, carriage returns become line
/// feeds. Joiners and variation selectors stay, as scripts and emoji are made of them. Idempotent, linear.
///
/// ```
/// use contextweaver_text::unicode::visible;
///
/// assert_eq!(visible("\u{1b}[31mred\u{1b}[0m a\u{202e}b 👩\u{200d}🔬\r\n"), "red a\\u{202e}b 👩\u{200d}🔬\n");
/// ```
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(escaped(&without_colours(text), is_hidden))
}

/// Leaves out colours and the other control sequences of ECMA-48 that begin with an escape.
///
/// ```
/// use contextweaver_text::unicode::without_colours;
///
/// assert_eq!(without_colours("\u{1b}[1;31mred\u{1b}[0m"), "red");
/// ```
pub fn without_colours(text: &str) -> Cow<'_, str> {
    if !text.contains("\u{1b}[") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(ch) = rest.next() {
        if ch != '\u{1b}' || !skip_colour(&mut rest) {
            out.push(ch);
        }
    }
    Cow::Owned(out)
}

const fn is_hidden(ch: char) -> bool {
    match ch {
        '\t' | '\n' => false,
        '\0'..='\u{1f}'
        | '\u{7f}'..='\u{9f}'
        | '\u{61c}'
        | '\u{200b}'
        | '\u{200e}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e00ff}' => true,
        _ => false,
    }
}

/// Skips what follows an escape that opens a control sequence of ECMA-48: parameters, then a byte from `@` to `~`.
fn skip_colour(rest: &mut std::str::Chars) -> bool {
    let mut ahead = rest.clone();
    if ahead.next() != Some('[') {
        return false;
    }
    let is_end = ahead.find(|ch| !matches!(ch, ' '..='?')).is_some_and(|ch| matches!(ch, '@'..='~'));
    if is_end {
        *rest = ahead;
    }
    is_end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_decimal() {
        assert!(ZEROS.is_sorted());
        for (text, expected) in [("09٣𝟘۹\u{1d7ff}\u{1fbf9}", true), ("/:½²Ⅷ一a\u{65f}\u{66a}\u{1fbfa}", false)]
        {
            assert!(text.chars().all(|ch| is_digit(ch) == expected), "{text}");
        }
    }

    #[test]
    fn cutting_counts_code_points() {
        assert_eq!(truncate("añ😀b", 3), "añ😀…");
        assert_eq!(truncate("añ😀b", 4), "añ😀b");
        assert_eq!(prefix("", 3), "");
    }

    #[test]
    fn boundaries_are_never_inside_a_code_point() {
        let text = "añ€😀";
        let floors: Vec<usize> = (0..=text.len() + 2).map(|at| floor_char_boundary(text, at)).collect();
        assert_eq!(floors, [0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10, 10]);
        assert_eq!(floor_char_boundary("", 3), 0);
    }

    #[test]
    fn sanitizing_shows_what_hides_and_is_idempotent() {
        let hostile = "a\u{202e}b\u{1b}[31mc\r\nd\re\u{200b}\u{e0041}\u{7}";
        let clean = sanitize(hostile);
        assert_eq!(clean, "a\\u{202e}b\\u{1b}[31mc\nd\ne\\u{200b}\\u{e0041}\\u{7}");
        assert_eq!(sanitize(&clean), clean);
    }

    #[test]
    fn what_hides_is_shown_and_nothing_else() {
        for (text, expected) in [
            ("\u{1b}[1;31mred\u{1b}[0m\ttab\r\n\r", "red\ttab\n\n"),
            ("nul\0 half\u{1b}[3", "nul\\u{0} half\\u{1b}[3"),
            ("a\u{200b}b\u{feff}c\u{2066}d", "a\\u{200b}b\\u{feff}c\\u{2066}d"),
            ("tag\u{e0041}", "tag\\u{e0041}"),
            (
                "👩\u{200d}🔬 ❤\u{fe0f} می\u{200c}خواهم na\u{ad}ïve",
                "👩\u{200d}🔬 ❤\u{fe0f} می\u{200c}خواهم na\u{ad}ïve",
            ),
        ] {
            assert_eq!(visible(text), expected);
            assert_eq!(visible(expected), expected, "once is enough");
        }
    }
}
