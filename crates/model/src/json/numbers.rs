//! Numbers as people read them in reports, rounded half to even on the exact binary value as Python rounds.

use super::parse_float;

/// From here on floats have no fraction.
const ALL_WHOLE: f64 = (1_u64 << 52) as f64;

/// Rounds to a number of decimals and gives the nearest float of the result.
pub fn round(value: f64, decimals: usize) -> f64 {
    if !value.is_finite() || value.abs() >= ALL_WHOLE {
        return value;
    }
    parse_float(&fixed(value, decimals)).unwrap_or(value)
}

/// Writes a number with at most four decimals. The standard library's way to do that is twenty kilobytes.
pub fn fixed(value: f64, decimals: usize) -> String {
    let sign = if value.is_sign_negative() && !value.is_nan() { "-" } else { "" };
    let bits = value.to_bits();
    let power = 10_u64.pow(decimals as u32);
    let (mut whole, mut part) = (value.abs() as u64, 0);
    if value.abs() < ALL_WHOLE {
        // The number is that of the lower bits divided by a power of two; far down nothing is left of it but a rest.
        let shift = (1075 - (bits >> 52 & 0x7ff) as u32).min(127);
        let number = u128::from(bits & ((1 << 52) - 1) | 1 << 52);
        let scaled = (number & ((1 << shift) - 1)) * u128::from(power);
        let (rest, half) = (scaled & ((1 << shift) - 1), 1 << (shift - 1));
        part = (scaled >> shift) as u64;
        let is_odd = (whole.wrapping_mul(power) + part) % 2 == 1;
        part += u64::from(rest > half || rest == half && is_odd);
        (whole, part) = (whole + part / power, part % power);
    }
    if decimals == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{part:0decimals$}") }
}

/// Writes a ratio as a percentage with a number of decimals.
pub fn percent(ratio: f64, decimals: usize) -> String {
    fixed(ratio * 100.0, decimals) + "%"
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
    fn decimals_are_those_of_the_standard_library() {
        let mut state = 1_u64;
        for round in 0..20_000_i32 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let value = if round % 2 == 0 { f64::from_bits(state) } else { (state >> 44) as f64 / 1024.0 };
            for decimals in [0, 1, 4] {
                if value.abs() < 1e19 {
                    assert_eq!(fixed(value, decimals), format!("{value:.decimals$}"));
                }
            }
        }
        for value in [0.0, -0.0, 0.5, 1.5, 0.05, 4_503_599_627_370_495.5, 4_503_599_627_370_496.0, 1e18, 5e-324, -1e-5]
        {
            assert_eq!(fixed(value, 4), format!("{value:.4}"));
            assert_eq!(fixed(value, 0), format!("{value:.0}"));
        }
    }

    #[test]
    fn nothing_averages_to_zero() {
        assert_eq!(average(0.0, 0).to_bits(), 0);
        assert!((average(51.0, 4) - 12.75).abs() < f64::EPSILON);
    }
}
