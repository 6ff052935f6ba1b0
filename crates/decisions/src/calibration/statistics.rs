//! Rounding and figures.

pub use contextweaver_model::json::numbers::{average, round};

/// How far 95 % of a normal distribution reach, in standard deviations.
const NORMAL_95: f64 = 1.959_963_984_540_054;

/// Returns the mean of some numbers, and how many there are.
pub fn mean(numbers: impl Iterator<Item = f64>) -> (f64, u64) {
    let (sum, count) = numbers.fold((0.0, 0), |(sum, count), number| (sum + number, count + 1));
    (average(sum, count), count)
}

/// Returns the range that holds a true rate with 95 % certainty, given the one that was seen (after Wilson).
pub fn wilson(rate: f64, count: u64) -> (f64, f64) {
    if count == 0 {
        return (0.0, 1.0);
    }
    let (count, square) = (count as f64, NORMAL_95 * NORMAL_95);
    let scale = 1.0 + square / count;
    let centre = (rate + square / (2.0 * count)) / scale;
    let spread = (rate * (1.0 - rate) / count + square / (4.0 * count * count)).max(0.0).sqrt();
    let half = NORMAL_95 * spread / scale;
    ((centre - half).max(0.0), (centre + half).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_those_of_the_textbook() {
        for (rate, count, low, high) in
            [(0.5, 10, 0.2366, 0.7634), (0.0, 10, 0.0, 0.2775), (1.0, 10, 0.7225, 1.0), (0.9, 100, 0.8256, 0.9448)]
        {
            let (from, to) = wilson(rate, count);
            assert!((from - low).abs() < 5e-5 && (to - high).abs() < 5e-5, "{rate} of {count}: {from} {to}");
        }
        assert_eq!(wilson(0.0, 0), (0.0, 1.0));
        assert_eq!(mean([1.0, 2.0].into_iter()), (1.5, 2));
    }
}
