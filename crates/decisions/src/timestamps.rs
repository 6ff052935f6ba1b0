//! Times of the store: milliseconds inside, `2026-03-01T10:30:00.250+00:00` outside, so that texts sort as times do.

use contextweaver_text::time::{parse_iso, utc_date, utc_iso};

/// Milliseconds of a day.
pub const DAY_MS: i64 = 86_400_000;

/// Reads a timestamp or a date as milliseconds.
pub fn parse(text: &str) -> Option<i64> {
    parse_iso(text).map(|micros| micros.div_euclid(1000))
}

/// Writes a timestamp, milliseconds only where there are some.
pub fn iso(millis: i64) -> String {
    utc_iso(millis)
}

/// Writes the day of a timestamp, `2026-03-15`.
pub fn date(millis: i64) -> String {
    utc_date(millis.div_euclid(DAY_MS))
}

/// Returns the days since 1970-01-01 of a timestamp.
pub const fn day(millis: i64) -> i64 {
    millis.div_euclid(DAY_MS)
}

/// Returns the days since 1970-01-01 of a text that is a timestamp or a date.
pub fn day_of(text: &str) -> Option<i64> {
    parse(text).map(day)
}

/// Writes a timestamp the way the store does; what is none stays as it is.
pub fn normal(text: &str) -> String {
    parse(text).map_or_else(|| text.to_owned(), iso)
}
