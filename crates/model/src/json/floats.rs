//! Floats as text and back, to the last bit, without the standard library's tables.

use serde_json::Value;

/// Writes a float with the shortest digits that round-trip, in Python's layout.
///
/// The digits come from the JSON writer: the standard library's way from floats to text is twenty kilobytes more.
pub fn float_text(value: f64) -> String {
    if !value.is_finite() {
        return if value.is_nan() { "NaN".into() } else { ["inf", "-inf"][usize::from(value < 0.0)].into() };
    }
    let text = Value::from(value).to_string();
    let (sign, text) = text.strip_prefix('-').map_or(("", text.as_str()), |text| ("-", text));
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = [whole, part].concat();
    let digits = all.trim_start_matches('0');
    // The exponent of the first digit.
    let exponent =
        exponent.parse().unwrap_or(0) + (whole.len() + digits.len()).cast_signed() - (all.len() + 1).cast_signed();
    let digits = digits.trim_end_matches('0');
    let zeros = |count: isize| "0".repeat(usize::try_from(count).unwrap_or(0));
    if digits.is_empty() {
        return format!("{sign}0.0");
    }
    if !(-4..16).contains(&exponent) {
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        let (way, size) = if exponent < 0 { ('-', -exponent) } else { ('+', exponent) };
        return format!("{sign}{first}{point}{rest}e{way}{size:02}");
    }
    // At least one digit before the point, and one after it.
    let padded = [zeros(-exponent), digits.to_owned(), zeros(exponent + 2 - digits.len().cast_signed())].concat();
    let (whole, part) = padded.split_at(exponent.max(0) as usize + 1);
    format!("{sign}{whole}.{part}")
}

/// Writes a float as a person would, whole ones without a point.
pub fn plain_text(value: f64) -> String {
    let text = float_text(value);
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// Reads a float as the standard library does, whose tables are ten kilobytes; the JSON parser has its own.
pub fn parse_float(text: &str) -> Option<f64> {
    if let Some(value) = parse_short_float(text.as_bytes()) {
        return Some(value);
    }
    let (sign, text) = match text.as_bytes().first()? {
        b'-' => (-1.0, &text[1..]),
        b'+' => (1.0, &text[1..]),
        _ => (1.0, text),
    };
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let size = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    if whole.len() + part.len() == 0 || size.is_empty() || ![whole, part, size].into_iter().all(is_number) {
        let is = |name: &str| text.eq_ignore_ascii_case(name);
        return (is("inf") || is("infinity")).then_some(sign * f64::INFINITY).or(is("nan").then_some(f64::NAN));
    }
    // JSON wants one zero before the point or none, and a digit after it.
    let whole = whole.trim_start_matches('0');
    let json = [if whole.is_empty() { "0" } else { whole }, ".", part, "0e", exponent].concat();
    // What is a number and cannot be read is too large for one.
    let value = serde_json::from_str::<Value>(&json).map_or(f64::INFINITY, |value| value.as_f64().unwrap_or(0.0));
    Some(sign * value)
}

/// Digits that are exact whatever they are.
const MAX_SHORT: usize = 15;

/// Powers of ten by their exponent.
const POWERS: [f64; MAX_SHORT + 1] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// Reads what nearly all numbers are: at most 15 digits and a point. Digits and power of ten are exact, so the one
/// division rounds as reading all digits would (Clinger, "How to read floating point numbers accurately", 1990).
fn parse_short_float(text: &[u8]) -> Option<f64> {
    let (sign, text) = match text {
        [b'-', rest @ ..] => (-1.0, rest),
        _ => (1.0, text),
    };
    let (mut digits, mut decimals, mut point) = (0_u64, 0, false);
    for byte in text.get(..MAX_SHORT + 1).unwrap_or(text) {
        match byte {
            b'0'..=b'9' => {
                digits = digits * 10 + u64::from(byte - b'0');
                decimals += usize::from(point);
            }
            b'.' if !point => point = true,
            _ => return None,
        }
    }
    let short = (1..=MAX_SHORT).contains(&(text.len() - usize::from(point)));
    short.then(|| sign * (digits as f64 / POWERS[decimals]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_written_and_read_as_the_standard_library_does() {
        let mut state = 1_u64;
        let mut values =
            vec![0.0, -0.0, 1.0, 0.1, 1e15, 1e16, 123_456_789_012_345_680.0, 9.999e-5, 1e-4, 1.5e300, 5e-324, f64::MAX];
        values.extend((0..5000).map(|round| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            if round % 2 == 0 { f64::from_bits(state) } else { (state >> 40) as f64 / 1e3 }
        }));
        for value in values.into_iter().filter(|value| value.is_finite()) {
            let (text, scientific) = (float_text(value), format!("{value:e}"));
            let exponent: i32 = scientific.split_once('e').unwrap().1.parse().unwrap();
            let wanted = if (-4..16).contains(&exponent) {
                let plain = format!("{value}");
                if plain.contains('.') { plain } else { plain + ".0" }
            } else {
                let (mantissa, exponent) = scientific.split_once('e').unwrap();
                let way = if exponent.starts_with('-') { '-' } else { '+' };
                format!("{mantissa}e{way}{:0>2}", exponent.trim_start_matches('-'))
            };
            // The last digit may differ where two are equally near; Python then takes the even one.
            assert_eq!((text.len(), &text[..text.len() - 1]), (wanted.len(), &wanted[..wanted.len() - 1]), "{wanted}");
            assert_eq!(parse_float(&text).map(f64::to_bits), Some(value.to_bits()));
        }
        for text in [
            "",
            "+",
            "-",
            ".",
            "1",
            "+1",
            "-1",
            ".5",
            "1.",
            "-.5e3",
            "007",
            "00.10",
            "1e",
            "1e+",
            "e5",
            "1e5",
            "1E-05",
            "1e400",
            "-1e400",
            "1e-400",
            "1e99999999999",
            "0e99999999999",
            "inf",
            "-Infinity",
            "+INF",
            "nan",
            "NaN",
            "infin",
            "1_0",
            "1 ",
            " 1",
            "--1",
            "1.2.3",
            "0x10",
            "1e5.0",
            "१",
            "18446744073709551616",
            "9007199254740993",
            "-0",
            ".e1",
            "1ee1",
            "179769313486231580793728971405301e276",
            "2.2250738585072011e-308",
            "-",
            "-.",
            "-5.",
            "-0.0",
            "0.000000000000001",
            "999999999999999",
            "9999999999999999",
            "99999999999999.99",
            ".999999999999999",
            "0.9999999999999999",
            "123.456.789",
        ] {
            let same = |value: Option<f64>| value.map(|value| if value.is_nan() { 1 } else { value.to_bits() });
            assert_eq!(same(parse_float(text)), same(text.parse().ok()), "{text:?}");
        }
    }
}
