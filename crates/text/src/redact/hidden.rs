//! What a terminal does not show: control characters, escape sequences and zero-width characters.
//!
//! They part words, so a token may stand right behind a colour; and they stand in the middle of what a reader takes for
//! one piece: `grep --color` marks half of a token, `jq -C` colours the quotes of a key. So a text that has any is read
//! twice: without them, and with white space in their place. Texts that were encoded have them as `\u001b`, `\x1b` or
//! `\033`, and logs that lost the escape character still have the rest of a colour.

use std::borrow::Cow;

use super::chars::binds;
use super::chars::{after, byte, is_space, rest, skip_slashes, tick};
use super::wraps::soft_break;
use crate::unicode::is_invisible;

const BELL: char = '\u{7}';
const ESCAPE: char = '\u{1b}';
const CSI: char = '\u{9b}';
const STRING_END: char = '\u{9c}';

/// How a text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HiddenReading {
    /// Every character counts.
    Plain,
    /// Escape sequences and zero-width characters are skipped.
    Joined,
    /// With a space for each hidden piece. The text of a link's target is no hidden piece here, as it may hold a secret.
    Parted,
    /// As [`Self::Joined`], and line breaks inside of words are skipped.
    Unwrapped,
}

/// Returns the ways in which a text has to be read to see all of it, where it has hidden pieces or not.
pub(super) fn readings(hides: bool) -> &'static [HiddenReading] {
    if hides { &[HiddenReading::Joined, HiddenReading::Parted] } else { &[HiddenReading::Plain] }
}

/// Reports whether something is hidden at or after an offset.
pub(super) fn hides(text: &str, from: usize) -> bool {
    find(text, from, HiddenReading::Joined).is_some()
}

/// A text in one reading.
pub(super) struct VisibleText<'a> {
    pub(super) text: Cow<'a, str>,
    /// Whether a hidden piece stands between two characters that a word, a token or a path may have.
    pub(super) parts: bool,
    pub(super) reading: HiddenReading,
    /// Where a piece of the text goes on behind a hidden one: its offset here, and in the source.
    pieces: Vec<(usize, usize)>,
}

impl<'a> VisibleText<'a> {
    /// Reads a text.
    pub(super) fn new(source: &'a str, reading: HiddenReading) -> Self {
        let mut shown = Self { text: Cow::Borrowed(source), parts: false, reading, pieces: Vec::new() };
        if reading == HiddenReading::Plain {
            return shown;
        }
        let (mut text, mut at) = (String::new(), 0);
        let mut next = find(source, 0, reading);
        if next.is_some() {
            text.reserve(source.len());
        }
        while let Some((start, end)) = next {
            let visible = source.get(at..start).unwrap_or_default();
            shown.parts |= !visible.is_empty() && binds(text.bytes().last()) && binds(visible.bytes().next());
            // The text of a long sequence may be one that is read as well.
            shown.parts |= end - start > 6 && piece_at(source, start, HiddenReading::Parted) != Some((start, end));
            text.push_str(visible);
            if reading == HiddenReading::Parted {
                text.push(' ');
            }
            shown.pieces.push((text.len(), end));
            at = end;
            next = find(source, at, reading);
        }
        if at > 0 {
            let visible = rest(source, at);
            shown.parts |= binds(text.bytes().last()) && binds(visible.bytes().next());
            text.push_str(visible);
            shown.text = Cow::Owned(text);
        }
        shown
    }

    /// Returns where in the source something starts that starts here.
    pub(super) fn start(&self, at: usize) -> usize {
        self.source(at, |piece| piece <= at)
    }

    /// Returns where in the source something ends that ends here: before a hidden piece, unless it holds the space for it.
    pub(super) fn end(&self, at: usize) -> usize {
        self.source(at, |piece| piece < at || piece == at && self.reading == HiddenReading::Parted)
    }

    fn source(&self, at: usize, is_before: impl Fn(usize) -> bool) -> usize {
        let next = self.pieces.partition_point(|&(piece, _)| is_before(piece));
        let (here, there) = next.checked_sub(1).and_then(|last| self.pieces.get(last)).copied().unwrap_or_default();
        there + at.saturating_sub(here)
    }
}

/// Bytes that show where something hidden may be.
static SIGNS: [bool; 256] = {
    let mut table = [false; 256];
    let mut code = 0;
    while code < 256 {
        table[code] = may_hide(code as u8);
        code += 1;
    }
    table
};

/// Reports whether a byte shows that something hidden may be here.
pub(super) const fn may_hide(byte: u8) -> bool {
    match byte {
        b'\t'..=b'\r' | 0x1c..=0x1f => false,
        // First bytes of the hidden characters beyond ASCII; where those are frequent, a later byte.
        0xc2 | 0xcd | 0xe1 | 0xe2 | 0xef | 0xf3 | 0x85 | 0x9c => true,
        byte => byte < b' ' || byte == 0x7f || byte == b'\\' || byte == b'[',
    }
}

/// Reports whether something is hidden where a byte says that it may.
pub(super) fn hidden_at(text: &str, at: usize) -> bool {
    piece_at(text, at, HiddenReading::Joined).is_some()
}

/// Returns the hidden piece of which one of the [`SIGNS`] is at an offset.
fn piece_at(text: &str, at: usize, reading: HiddenReading) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let next = bytes.get(at + 1).copied().unwrap_or_default();
    let back = |count: usize| at.checked_sub(count).and_then(|at| bytes.get(at)).copied().unwrap_or_default();
    let start = match bytes.get(at)? {
        b'\\' => {
            if !matches!(next, b'\\' | b'u' | b'x' | b'0' | b'e') {
                return None;
            }
            let (c, end) = escaped(text, at).filter(|&(c, _)| c.is_control() || is_hidden(c))?;
            return Some((at, sequence_end(text, c, end, reading)));
        }
        b'[' => return colour_end(text, at + 1).map(|end| (at, end)),
        0xe1 if !matches!(next, 0x85 | 0x9e | 0xa0) => return None,
        0xe2 if !matches!(next, 0x80 | 0x81 | 0xa0) => return None,
        0xef if !matches!(next, 0xb8 | 0xbb | 0xbe | 0xbf) => return None,
        0x9c if back(1) == 0xd8 => at - 1,
        0x85 if back(1) == 0xe3 => at - 1,
        0x85 if back(1) == 0x9d && back(2) == 0xf0 => at - 2,
        0x85 | 0x9c => return None,
        _ => at,
    };
    let c = after(text, start).filter(|&c| is_hidden(c))?;
    Some((start, sequence_end(text, c, start + c.len_utf8(), reading)))
}

/// Finds the next hidden piece at or after an offset.
fn find(text: &str, from: usize, reading: HiddenReading) -> Option<(usize, usize)> {
    let mut at = from;
    loop {
        let breaks = reading == HiddenReading::Unwrapped;
        let step = text.as_bytes().get(at..)?.iter().position(|&b| SIGNS[usize::from(b)] || breaks && b == b'\n');
        tick(step.unwrap_or(text.len() - at) + 1);
        at += step?;
        let piece = if byte(text, at) == Some(b'\n') { soft_break(text, at) } else { piece_at(text, at, reading) };
        if piece.is_some_and(|(start, _)| start >= from) {
            return piece;
        }
        at += 1;
    }
}

/// Reports whether a character shows nothing: also the blank of Braille and the invisible signs of musical notation.
fn is_hidden(c: char) -> bool {
    c.is_control() && !is_space(c)
        || is_invisible(c)
        || matches!(c, '\u{2800}' | '\u{1d159}' | '\u{1d173}'..='\u{1d17a}')
}

/// Reads a control character written as an escape of JSON or of a programming language: the character, and its end.
fn escaped(text: &str, at: usize) -> Option<(char, usize)> {
    let letter = skip_slashes(text, at);
    let tail = rest(text, letter);
    let (digits, length) = match tail.as_bytes() {
        [b'u', b'{', ..] => {
            let length = tail.bytes().take(9).position(|b| b == b'}')?;
            (tail.get(2..length)?, length + 1)
        }
        [b'u', ..] => (tail.get(1..5)?, 5),
        [b'x', ..] => (tail.get(1..3)?, 3),
        [b'0', b'3', b'3', ..] => ("1b", 3),
        [b'e', b'[', ..] => ("1b", 1),
        _ => return None,
    };
    let code = u32::from_str_radix(digits, 16).ok()?;
    Some((char::from_u32(code)?, letter + length))
}

/// Returns the end of the sequence that a control character starts, or its own end.
fn sequence_end(text: &str, c: char, end: usize, reading: HiddenReading) -> usize {
    let next = byte(text, end);
    let found = match (c, next) {
        (CSI, _) => control_end(text, end),
        (ESCAPE, Some(b'[')) => control_end(text, end + 1),
        (ESCAPE, Some(b']' | b'P' | b'X' | b'^' | b'_')) => {
            let whole = string_end(text, end + 1);
            whole.map(|whole| if reading == HiddenReading::Parted { end + 1 } else { whole })
        }
        // A character set, as `tput sgr0` switches to one.
        (ESCAPE, Some(b'#' | b'%' | b'('..=b'/')) => byte(text, end + 1).filter(u8::is_ascii_graphic).map(|_| end + 2),
        // Not every letter: a stray escape character may stand before a word.
        (ESCAPE, Some(b'7' | b'8' | b'=' | b'>' | b'c' | b'D' | b'H' | b'M' | b'Z' | b'\\')) => Some(end + 1),
        _ => None,
    };
    found.unwrap_or(end)
}

/// Returns the end of a control sequence, of which the introducer ends at an offset.
fn control_end(text: &str, from: usize) -> Option<usize> {
    let tail = text.as_bytes().get(from..)?;
    let parameters = tail.iter().take_while(|b| matches!(b, b'0'..=b'?')).count();
    tick(parameters + 1);
    let marked = parameters > 0 && matches!(tail.get(parameters), Some(b' '..=b'/'));
    let length = parameters + usize::from(marked);
    tail.get(length).filter(|b| matches!(b, b'@'..=b'~')).map(|_| from + length + 1)
}

/// Returns the end of a colour, or of the clearing of a line, that lost its escape character.
fn colour_end(text: &str, from: usize) -> Option<usize> {
    let tail = text.as_bytes().get(from..)?;
    let length = tail.iter().take_while(|b| b.is_ascii_digit() || **b == b';').count();
    tick(length + 1);
    (length > 0 && matches!(tail.get(length), Some(b'm' | b'K'))).then_some(from + length + 1)
}

/// Returns the end of a string for the terminal, such as the target of a link.
fn string_end(text: &str, from: usize) -> Option<usize> {
    let tail = rest(text, from);
    let length = tail.find(|c: char| c.is_control() || c == '\\').unwrap_or(tail.len());
    tick(length + 1);
    let at = from + length;
    let c = after(text, at)?;
    let (c, end) = if c == '\\' { escaped(text, at)? } else { (c, at + c.len_utf8()) };
    match c {
        BELL | STRING_END => Some(end),
        ESCAPE => Some(skip_slashes(text, end)).filter(|&slashes| slashes > end),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hidden_character_is_found() {
        for c in '\0'..=char::MAX {
            let mut bytes = [0; 4];
            let text = c.encode_utf8(&mut bytes);
            let end = text.len();
            let found = find(text, 0, HiddenReading::Joined);
            assert_eq!(found, is_hidden(c).then_some((0, end)), "{c:?}");
        }
    }

    #[test]
    fn hidden_pieces_inside_of_words_part_a_text() {
        for (text, parts) in [
            ("\u{1b}[1minfo\u{1b}[0m: a=\u{1b}[2m1\u{1b}[0m \"\u{200b}b\"", false),
            ("INFO\u{1b}[0m\u{1b}[1mtoken", true),
            ("a \u{1b}[0m\u{200b}", false),
            ("a/\u{200b}b", true),
            ("a \u{1b}]8;;https://h/x\u{7} b", true),
        ] {
            assert_eq!(VisibleText::new(text, HiddenReading::Joined).parts, parts, "{text:?}");
        }
    }
}
