//! Timestamps in ISO 8601.

use std::fmt::Write as _;

const MICROS: i64 = 1_000_000;
const DAY: i64 = 86_400;

/// Returns the microseconds of a timestamp since 1970-01-01T00:00:00 UTC, nothing when it is none.
///
/// Accepts calendar dates (`2026-03-01`, `20260301`) and week dates (`2026-W09-7`, `2026W09`), then any one character,
/// then a time (`10`, `10:30`, `103000.25`), then `Z` or an offset (`+02:00`, `-0330`). Without an offset the time
/// counts as UTC; without a time it is midnight. Python's parser lets pass some malformed texts as well, such as a
/// stray character before the zone; they are no timestamps here.
///
/// ```
/// use contextweaver_text::time::parse_iso;
///
/// assert_eq!(parse_iso("1970-01-01T00:00:01Z"), Some(1_000_000));
/// assert_eq!(parse_iso("2026-03-01T10:30+02:00"), parse_iso("2026-03-01T08:30Z"));
/// assert_eq!(parse_iso("tomorrow"), None);
/// ```
pub fn parse_iso(text: &str) -> Option<i64> {
    parse_zoned(text).map(|(micros, _)| micros)
}

/// Returns the microseconds of a timestamp in UTC, and those its offset is ahead of UTC.
fn parse_zoned(text: &str) -> Option<(i64, i64)> {
    let bytes = text.as_bytes();
    let end = date_length(bytes)?;
    let days = parse_date(bytes.get(..end)?)?;
    let rest = text.get(end..)?;
    let (clock, offset) = match rest.char_indices().nth(1) {
        Some((time, _)) => parse_time(&rest.as_bytes()[time..])?,
        None if matches!(rest, "" | "Z" | "z") => (0, 0),
        None => return None,
    };
    Some((days * DAY * MICROS + clock - offset, offset))
}

/// Writes a timestamp as Python does: `2026-03-01T10:30:00+00:00`, its own offset kept, no zone read as UTC, fractions
/// with six digits; nothing when it is none.
pub fn normal_iso(text: &str) -> Option<String> {
    let (micros, offset) = parse_zoned(text)?;
    let local = micros + offset;
    let (year, month, day) = date_of(local.div_euclid(DAY * MICROS));
    let clock = |micros: i64| {
        let second = micros / MICROS;
        (second / 3600, second / 60 % 60, second % 60, micros % MICROS)
    };
    let (hour, minute, second, micro) = clock(local.rem_euclid(DAY * MICROS));
    let mut out = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    let fraction = |micro: i64| if micro == 0 { String::new() } else { format!(".{micro:06}") };
    out += &fraction(micro);
    out.push(if offset < 0 { '-' } else { '+' });
    let (hour, minute, second, micro) = clock(offset.abs());
    let _ = write!(out, "{hour:02}:{minute:02}");
    if second > 0 || micro > 0 {
        let _ = write!(out, ":{second:02}{}", fraction(micro));
    }
    Some(out)
}

/// Writes milliseconds since 1970-01-01T00:00:00 UTC as `2026-03-01T10:30:00.250+00:00`, the fraction only where there is
/// one; years beyond four digits are cut off at the first and the last moment.
pub fn utc_iso(millis: i64) -> String {
    let millis = millis.clamp(days_of(1, 1, 1) * DAY * 1000, days_of(10_000, 1, 1) * DAY * 1000 - 1);
    let (second, milli) = (millis.rem_euclid(DAY * 1000) / 1000, millis.rem_euclid(1000));
    let mut out = utc_date(millis.div_euclid(DAY * 1000));
    let _ = write!(out, "T{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
    if milli > 0 {
        let _ = write!(out, ".{milli:03}");
    }
    out + "+00:00"
}

/// Writes a count of days since 1970-01-01 as `2026-03-01`.
pub fn utc_date(days: i64) -> String {
    let (year, month, day) = date_of(days.clamp(days_of(1, 1, 1), days_of(9999, 12, 31)));
    format!("{year:04}-{month:02}-{day:02}")
}

/// Returns the year, month and day of a count of days since 1970-01-01.
fn date_of(days: i64) -> (i64, i64, i64) {
    // No year has more days than 366, so the guess is early, by a year in four hundred.
    let mut year = 1 + (days - days_of(1, 1, 1)).div_euclid(366);
    while days_of(year + 1, 1, 1) <= days {
        year += 1;
    }
    let mut month = 1;
    while month < 12 && days_of(year, month + 1, 1) <= days {
        month += 1;
    }
    (year, month, days - days_of(year, month, 1) + 1)
}

/// Finds the end of the date. A week date is ambiguous, as any character may separate it from the time.
fn date_length(bytes: &[u8]) -> Option<usize> {
    let digit_at = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    if bytes.len() < 7 {
        return None;
    }
    let dashed = bytes[4] == b'-';
    Some(match (dashed, bytes[if dashed { 5 } else { 4 }]) {
        (true, b'W') => {
            // `-` at 8 opens the day of the week, but `-10` is an hour behind a hyphen.
            if bytes.get(8) == Some(&b'-') && !digit_at(10) { 10 } else { 8 }
        }
        (true, _) => 10,
        (false, b'W') => {
            let end = (7..bytes.len()).find(|at| !digit_at(*at)).unwrap_or(bytes.len());
            // Hours come in pairs of digits, so an odd run of them starts with the day of the week.
            if end < 9 { end } else { 7 + end % 2 }
        }
        (false, _) => 8,
    })
}

/// Returns the days since 1970-01-01.
fn parse_date(date: &[u8]) -> Option<i64> {
    let (year, rest) = number(date, 4)?;
    let (dashed, rest) = match rest.strip_prefix(b"-") {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    let day = if let Some(week) = rest.strip_prefix(b"W") {
        let (week, rest) = number(week, 2)?;
        let (weekday, rest) = if rest.is_empty() { (1, rest) } else { number(undash(rest, dashed)?, 1)? };
        (rest.is_empty() && (1..=7).contains(&weekday)).then_some(())?;
        let start = monday_of_first_week(year) + (week - 1) * 7;
        (year > 0 && week > 0 && start < monday_of_first_week(year + 1)).then_some(start + weekday - 1)?
    } else {
        let (month, rest) = number(rest, 2)?;
        let (day, rest) = number(undash(rest, dashed)?, 2)?;
        let valid =
            rest.is_empty() && year > 0 && (1..=12).contains(&month) && (1..=month_days(year, month)).contains(&day);
        valid.then(|| days_of(year, month, day))?
    };
    (days_of(1, 1, 1)..=days_of(9999, 12, 31)).contains(&day).then_some(day)
}

fn undash(bytes: &[u8], dashed: bool) -> Option<&[u8]> {
    if dashed { bytes.strip_prefix(b"-") } else { Some(bytes) }
}

/// Returns the microseconds of a time, and those of its offset.
fn parse_time(bytes: &[u8]) -> Option<(i64, i64)> {
    let zone_at = bytes.iter().position(|byte| matches!(byte, b'+' | b'-' | b'Z' | b'z')).unwrap_or(bytes.len());
    let (clock, zone) = bytes.split_at(zone_at);
    let time = parse_clock(clock)?;
    let valid = time.hour < 24 && time.minute < 60 && time.second < 60;
    let offset = match zone {
        [] | [b'Z' | b'z'] => 0,
        [b'+', zone @ ..] => parse_clock(zone)?.micros(),
        [b'-', zone @ ..] => -parse_clock(zone)?.micros(),
        _ => return None,
    };
    (valid && offset.abs() < DAY * MICROS).then(|| (time.micros(), offset))
}

#[derive(Default)]
struct ClockTime {
    hour: i64,
    minute: i64,
    second: i64,
    micro: i64,
}

impl ClockTime {
    const fn micros(&self) -> i64 {
        ((self.hour * 60 + self.minute) * 60 + self.second) * MICROS + self.micro
    }
}

/// Reads `HH[:MM[:SS[.f]]]`, with or without all colons.
fn parse_clock(bytes: &[u8]) -> Option<ClockTime> {
    let mut clock = ClockTime::default();
    let (hour, rest) = number(bytes, 2)?;
    clock.hour = hour;
    if rest.is_empty() {
        return Some(clock);
    }
    let colons = rest[0] == b':';
    let step = |rest| if colons { <[u8]>::strip_prefix(rest, b":") } else { Some(rest) };
    let (minute, rest) = number(step(rest)?, 2)?;
    clock.minute = minute;
    if rest.is_empty() {
        return Some(clock);
    }
    let (second, rest) = number(step(rest)?, 2)?;
    clock.second = second;
    clock.micro = match rest {
        [] => 0,
        [b'.' | b',', digits @ ..] if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) => {
            (0..6).fold(0, |sum, at| sum * 10 + digits.get(at).map_or(0, |digit| i64::from(digit - b'0')))
        }
        _ => return None,
    };
    Some(clock)
}

/// Reads exactly `width` digits.
fn number(bytes: &[u8], width: usize) -> Option<(i64, &[u8])> {
    let (digits, rest) = bytes.split_at_checked(width)?;
    digits.iter().all(u8::is_ascii_digit).then_some(())?;
    Some((digits.iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')), rest))
}

const fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

const fn month_days(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Counts days since 1970-01-01 in the proleptic Gregorian calendar.
fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let past = year - 1;
    let months: i64 = (1..month).map(|m| month_days(year, m)).sum();
    past * 365 + past / 4 - past / 100 + past / 400 + months + day - 1 - 719_162
}

/// Returns the Monday of the week that holds the fourth of January, where ISO years begin.
fn monday_of_first_week(year: i64) -> i64 {
    let fourth = days_of(year, 1, 4);
    // 1970-01-01 was a Thursday.
    fourth - (fourth + 3).rem_euclid(7)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments() {
        let cases = [
            ("1970-01-01", 0),
            ("1970-01-01T00:00:01Z", 1_000_000),
            ("1970-01-01 00:00:00.5", 500_000),
            ("19700102T00", 86_400_000_000),
            ("1970-01-01T02:00+02:00", 0),
            ("1969-12-31T21:30-0230", 0),
            ("1970-W01-4", 0),
            ("1970W01T00", -259_200_000_000),
            ("2000-02-29T00:00:00z", 951_782_400_000_000),
            ("0001-01-01T00:00+14:00", -62_135_647_200_000_000),
            ("1970-01-01Z", 0),
        ];
        for (text, wanted) in cases {
            assert_eq!(parse_iso(text), Some(wanted), "{text}");
        }
    }

    #[test]
    fn moments_are_written_as_python_writes_them() {
        let cases = [
            ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00+00:00"),
            ("2026-01-01T23:30:00-03:30", "2026-01-01T23:30:00-03:30"),
            ("2026-01-01 10:00:00.000001+0200", "2026-01-01T10:00:00.000001+02:00"),
            ("20240229", "2024-02-29T00:00:00+00:00"),
            ("9999-12-31T23:59:59.5", "9999-12-31T23:59:59.500000+00:00"),
            ("0001-01-01T00:00+14:00", "0001-01-01T00:00:00+14:00"),
            ("1969-12-31T01:02:03+01:02:03.5", "1969-12-31T01:02:03+01:02:03.500000"),
        ];
        for (text, wanted) in cases {
            assert_eq!(normal_iso(text).as_deref(), Some(wanted), "{text}");
        }
        for year in (1..10_000).step_by(97) {
            for day in ["01-01", "02-28", "03-01", "12-31"] {
                assert_eq!(normal_iso(&format!("{year:04}-{day}")), Some(format!("{year:04}-{day}T00:00:00+00:00")));
            }
        }
        assert_eq!(normal_iso("tomorrow"), None);
    }

    #[test]
    fn milliseconds_are_written_in_utc() {
        let cases = [
            (0, "1970-01-01T00:00:00+00:00"),
            (-1, "1969-12-31T23:59:59.999+00:00"),
            (1_773_576_000_050, "2026-03-15T12:00:00.050+00:00"),
            (i64::MIN, "0001-01-01T00:00:00+00:00"),
            (i64::MAX, "9999-12-31T23:59:59.999+00:00"),
        ];
        for (millis, wanted) in cases {
            assert_eq!(utc_iso(millis), wanted);
        }
        assert_eq!((utc_date(59).as_str(), utc_date(i64::MAX).as_str()), ("1970-03-01", "9999-12-31"));
    }

    #[test]
    fn everything_else_is_none() {
        let cases = [
            "",
            "2026",
            "2026-01",
            "2026-13-01",
            "2026-02-29",
            "2026-1-1",
            "0000-01-01",
            "2026-0101",
            "202601-01",
            "2026-01-01T24:00",
            "2026-01-01T10:60",
            "2026-01-01T1",
            "2026-01-01T10:3",
            "2026-01-01T10:30:00.",
            "2026-01-01T",
            "2026-01-01TZ",
            "2026-01-01T10:00+24:00",
            "2026-01-01T10:00Z+01",
            "2026-01-01T10:3000",
            "2026-W54-1",
            "2026-W10-8",
            "9999-W52-6",
            "yesterday",
            "２０２６-01-01",
            "2026-01-01Т",
            "1767225600",
            "2026-01-01T10:30.5",
        ];
        for text in cases {
            assert_eq!(parse_iso(text), None, "{text}");
        }
    }
}
