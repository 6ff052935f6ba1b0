//! One ranking out of two.

use contextweaver_model::json::numbers::round;

/// How far the first places are from the others when places count.
const RANK_OFFSET: f64 = 60.0;

contextweaver_model::string_enum! {
    /// How the scores of two rankings become comparable before they are added.
    #[derive(Default)]
    ScoreFusion, "fusion" {
        /// Scaled, so that the best of the list has 1 and the worst 0.
        #[default]
        Minmax = "minmax",
        /// Reciprocal rank: only the position in the list counts.
        Rrf = "rrf",
    }
}

/// A slot with its score in each list, all rounded to four decimals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FusedScore {
    /// Slot of the decision in the index.
    pub slot: u32,
    /// Normalised score by embedding; 0 where that list lacks it.
    pub semantic: f64,
    /// Normalised score by keywords; 0 where that list lacks it.
    pub keyword: f64,
    /// Weighted sum of both.
    pub combined: f64,
}

/// Returns the scores of a list, best first, scaled to at most 1.
pub fn normalised(scores: &[f64], fusion: ScoreFusion) -> Vec<f64> {
    let least = scores.iter().copied().fold(f64::INFINITY, f64::min);
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let value = |(place, score): (usize, &f64)| match fusion {
        ScoreFusion::Minmax if most > least => (score - least) / (most - least),
        ScoreFusion::Minmax => 1.0,
        ScoreFusion::Rrf => (RANK_OFFSET + 1.0) / (RANK_OFFSET + 1.0 + place as f64),
    };
    scores.iter().enumerate().map(value).collect()
}

/// Merges two lists, best hits first; the caller sorts what comes out.
///
/// `weight` is that of the semantic list, from 0 to 1. What one of the lists lacks counts 0 there.
pub fn fuse(semantic: &[(u32, f64)], keyword: &[(u32, f64)], weight: f64, fusion: ScoreFusion) -> Vec<FusedScore> {
    let mut out: Vec<FusedScore> = Vec::new();
    for (is_semantic, list) in [(true, semantic), (false, keyword)] {
        let scores: Vec<f64> = list.iter().map(|(_, score)| *score).collect();
        for ((slot, _), value) in list.iter().zip(normalised(&scores, fusion)) {
            // At most a hundred hits.
            let place = out.iter().position(|hit| hit.slot == *slot).unwrap_or_else(|| {
                out.push(FusedScore { slot: *slot, semantic: 0.0, keyword: 0.0, combined: 0.0 });
                out.len() - 1
            });
            *(if is_semantic { &mut out[place].semantic } else { &mut out[place].keyword }) = value;
        }
    }
    for hit in &mut out {
        let combined = weight * hit.semantic + (1.0 - weight) * hit.keyword;
        *hit = FusedScore {
            slot: hit.slot,
            semantic: round(hit.semantic, 4),
            keyword: round(hit.keyword, 4),
            combined: round(combined, 4),
        };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_become_parts_of_one() {
        let cases: &[(&[f64], &[f64])] = &[
            (&[], &[]),
            (&[3.0], &[1.0]),
            (&[3.0, 3.0], &[1.0, 1.0]),
            (&[5.0, 3.0, 1.0], &[1.0, 0.5, 0.0]),
            (&[-1.0, -3.0], &[1.0, 0.0]),
        ];
        for (scores, expected) in cases {
            assert_eq!(&normalised(scores, ScoreFusion::Minmax), expected);
        }
        assert_eq!(normalised(&[9.0, 9.0], ScoreFusion::Rrf), [1.0, 61.0 / 62.0]);
    }

    #[test]
    fn lists_are_weighted() {
        let semantic = [(0, 0.9), (1, 0.8), (2, 0.7)];
        let keyword = [(2, 9.0), (3, 1.0), (0, 3.0)];
        let combined = |fusion| -> Vec<(u32, f64)> {
            fuse(&semantic, &keyword, 0.5, fusion).iter().map(|hit| (hit.slot, hit.combined)).collect()
        };
        assert_eq!(combined(ScoreFusion::Minmax), [(0, 0.625), (1, 0.25), (2, 0.5), (3, 0.0)]);
        assert_eq!(combined(ScoreFusion::Rrf), [(0, 0.9841), (1, 0.4919), (2, 0.9841), (3, 0.4919)]);
        assert_eq!(fuse(&[], &[], 0.7, ScoreFusion::Minmax), []);
    }
}
