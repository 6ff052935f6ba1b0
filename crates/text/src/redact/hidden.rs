//! What a terminal does not show: control characters, escape sequences and zero-width characters.
//!
//! They part words, so a token may stand right behind a colour; and they stand in the middle of what a reader takes for
//! one piece: `grep --color` marks half of a token, `jq -C` colours the quotes of a key. So a text that has any is read
//! twice: without them, and with white space in their place. Texts that were encoded have them as `\u001b`, `\x1b` or
//! `\033`, and logs that lost the escape character still have the rest of a colour.

use std::borrow::Cow;

use super::chars::{after, byte, is_space, rest, skip_slashes, tick};
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
}

/// Returns the ways in which a text has to be read to see all of it.
pub(super) fn readings(text: &str, full: bool) -> &'static [HiddenReading] {
    let two = full && find(text, 0, HiddenReading::Joined).is_some();
    if two { &[HiddenReading::Joined, HiddenReading::Parted] } else { &[HiddenReading::Plain] }
}

/// A text in one reading.
pub(super) struct VisibleText<'a> {
    pub(super) text: Cow<'a, str>,
    reading: HiddenReading,
    /// Where a piece of the text goes on behind a hidden one: its offset here, and in the source.
    pieces: Vec<(usize, usize)>,
}

impl<'a> VisibleText<'a> {
    /// Reads a text.
    pub(super) fn new(source: &'a str, reading: HiddenReading) -> Self {
        let mut shown = Self { text: Cow::Borrowed(source), reading, pieces: Vec::new() };
        if reading == HiddenReading::Plain {
            return shown;
        }
        let (mut text, mut at) = (String::new(), 0);
        while let Some((start, end)) = find(source, at, reading) {
            text.push_str(source.get(at..start).unwrap_or_default());
            if reading == HiddenReading::Parted {
                text.push(' ');
            }
            shown.pieces.push((text.len(), end));
            at = end;
        }
        if at > 0 {
            text.push_str(rest(source, at));
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

/// Bytes that what is hidden may start with.
const STARTS: [bool; 256] = starts();

const fn starts() -> [bool; 256] {
    let mut table = [false; 256];
    let mut code = 0;
    while code < 256 {
        table[code] = match code as u8 {
            // Lead bytes of the hidden characters beyond ASCII; most texts beyond ASCII have few of them.
            0xc2 | 0xcd | 0xd8 | 0xe1..=0xe3 | 0xef | 0xf3 => true,
            b'\t'..=b'\r' | 0x1c..=0x1f => false,
            byte => byte < b' ' || byte == 0x7f || byte == b'\\' || byte == b'[',
        };
        code += 1;
    }
    table
}

/// Finds the next hidden piece at or after an offset.
fn find(text: &str, from: usize, reading: HiddenReading) -> Option<(usize, usize)> {
    let mut at = from;
    loop {
        let step = text.as_bytes().get(at..)?.iter().position(|&b| STARTS[usize::from(b)]);
        tick(step.unwrap_or(text.len() - at) + 1);
        at += step?;
        let c = after(text, at)?;
        let end = match c {
            '\\' => escaped(text, at).and_then(|(c, end)| {
                let hides = c.is_control() || is_invisible(c);
                hides.then(|| sequence_end(text, c, end, reading))
            }),
            '[' => colour_end(text, at + 1),
            c if is_hidden(c) => Some(sequence_end(text, c, at + c.len_utf8(), reading)),
            _ => None,
        };
        if let Some(end) = end {
            return Some((at, end));
        }
        at += c.len_utf8();
    }
}

fn is_hidden(c: char) -> bool {
    c.is_control() && !is_space(c) || is_invisible(c)
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
            whole.map(|whole| if reading == HiddenReading::Joined { whole } else { end + 1 })
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
}
