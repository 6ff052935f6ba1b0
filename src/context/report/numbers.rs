//! Numbers as people read them in reports, rounded half to even on the exact binary value as Python rounds.

/// Rounds to a number of decimals and gives the nearest float of the result.
pub fn round(value: f64, decimals: usize) -> f64 {
    if !value.is_finite() {
        return value;
    }
    // The JSON parser is in the module anyway; the standard library's brings ten kilobytes of tables.
    serde_json::from_str(&format!("{value:.decimals$}")).unwrap_or(value)
}

/// Writes a ratio as a percentage with a number of decimals.
pub fn percent(ratio: f64, decimals: usize) -> String {
    format!("{:.decimals$}%", ratio * 100.0)
}

/// Divides, with 0 for an empty denominator.
pub fn average(sum: f64, count: u64) -> f64 {
    if count == 0 { 0.0 } else { sum / count as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_go_to_the_even_digit() {
        let cases = [
            (0.031_25, 0.0312),
            (0.093_75, 0.0938),
            (12.75, 12.75),
            (2.0 / 3.0, 0.6667),
            (1e15 / 3.0, 333_333_333_333_333.3),
        ];
        for (value, wanted) in cases {
            assert_eq!(round(value, 4).to_bits(), f64::to_bits(wanted), "{value}");
        }
        assert_eq!(percent(0.505, 0), "50%");
        assert_eq!(percent(0.0625, 1), "6.2%");
        assert_eq!(percent(-60.0, 1), "-6000.0%");
        assert!(round(-0.000_01, 4).is_sign_negative());
        assert!(round(f64::NAN, 4).is_nan());
    }

    #[test]
    fn nothing_averages_to_zero() {
        assert_eq!(average(0.0, 0).to_bits(), 0);
        assert!((average(51.0, 4) - 12.75).abs() < f64::EPSILON);
    }
}
