//! Lines of a text and ranges of them.

use std::ops::Range;

/// Splits text into lines at every Unicode line terminator; a final terminator does not open another line.
///
/// ```
/// use contextweaver_text::lines::lines;
///
/// assert_eq!(lines("a\r\nb\n").collect::<Vec<_>>(), ["a", "b"]);
/// ```
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (end, width) = line_end(rest.as_bytes());
        let line = &rest[..end];
        rest = &rest[end + width..];
        Some(line)
    })
}

/// Returns where the first line of a text ends and how long its terminator is. Bytes are looked at, not characters:
/// everything that is read by lines passes through here.
pub fn line_end(bytes: &[u8]) -> (usize, usize) {
    let mut at = 0;
    // One comparison rules most bytes out.
    while let Some(skipped) = bytes[at..].iter().position(|byte| !(0x1f..0xc2).contains(byte)) {
        at += skipped;
        let width = match bytes[at..] {
            [b'\r', b'\n', ..] | [0xc2, 0x85, ..] => 2,
            [b'\n'..=b'\r' | 0x1c..=0x1e, ..] => 1,
            [0xe2, 0x80, 0xa8 | 0xa9, ..] => 3,
            _ => 0,
        };
        if width > 0 {
            return (at, width);
        }
        at += 1;
    }
    (bytes.len(), 0)
}

/// Places a slice on a sequence of `len` elements as Python does: a negative bound counts from the end, a bound
/// beyond an end is that end, and an end before the start gives an empty range.
pub fn slice_range(len: usize, start: Option<i64>, end: Option<i64>) -> Range<usize> {
    let place = |bound: i64| {
        let distance = usize::try_from(bound.unsigned_abs()).unwrap_or(usize::MAX);
        if bound < 0 { len.saturating_sub(distance) } else { distance.min(len) }
    };
    let start = start.map_or(0, place);
    start..end.map_or(len, place).max(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_at_every_terminator() {
        assert_eq!(lines("a\r\nb\rc\n\nd\u{2028}e\n").collect::<Vec<_>>(), ["a", "b", "c", "", "d", "e"]);
        assert_eq!(
            lines("é…\u{85}\u{2029}\u{2027}\u{b}\u{c}\u{1c}x").collect::<Vec<_>>(),
            ["é…", "", "\u{2027}", "", "", "x"]
        );
        assert_eq!(lines("").count(), 0);
    }

    #[test]
    fn slices_clamp_and_count_from_the_end() {
        let table: &[(Option<i64>, Option<i64>, Range<usize>)] = &[
            (None, None, 0..5),
            (Some(1), Some(3), 1..3),
            (Some(-2), None, 3..5),
            (None, Some(-1), 0..4),
            (Some(3), Some(1), 3..3),
            (Some(-9), Some(9), 0..5),
            (Some(i64::MIN), Some(i64::MAX), 0..5),
            (Some(9), None, 5..5),
        ];
        for (start, end, expected) in table {
            assert_eq!(&slice_range(5, *start, *end), expected, "{start:?} {end:?}");
        }
    }
}
