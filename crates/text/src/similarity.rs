//! Similarity of sets of words, and first-fit grouping by it, near-linear: an inverted index over rare words finds the
//! seeds worth comparing (prefix filtering, Chaudhuri et al. 2006).

use std::collections::HashMap;

use contextweaver_base::order::{WordSet, sort, sort_by};

/// Returns the Jaccard similarity of two sets, 0 when both are empty.
///
/// ```
/// use contextweaver_base::order::WordSet;
/// use contextweaver_text::similarity::jaccard;
///
/// let set = |words: &[&str]| WordSet::new(words.iter().map(|word| (*word).to_owned()).collect());
/// assert_eq!(jaccard(&set(&["a", "b"]), &set(&["b", "c"])), 1.0 / 3.0);
/// ```
pub fn jaccard(a: &WordSet, b: &WordSet) -> f64 {
    if a.is_empty() && b.is_empty() {
        return 0.0;
    }
    let shared = a.shared(b);
    shared as f64 / (a.len() + b.len() - shared) as f64
}

/// Numbers words from rare to frequent and returns each set as ascending numbers.
///
/// Sets that are similar share a rare word near their beginnings, so only beginnings need an index.
pub fn number_words(sets: &[WordSet]) -> Vec<Vec<u32>> {
    let mut ids: HashMap<&str, u32> = HashMap::new();
    let mut counts: Vec<u32> = Vec::new();
    let mut numbered: Vec<Vec<u32>> = Vec::with_capacity(sets.len());
    for set in sets {
        let mut own = Vec::with_capacity(set.len());
        for word in set.words() {
            let fresh = counts.len() as u32;
            let id = *ids.entry(word).or_insert(fresh);
            if id == fresh {
                counts.push(0);
            }
            counts[id as usize] += 1;
            own.push(id);
        }
        numbered.push(own);
    }
    let mut order: Vec<u32> = (0..counts.len() as u32).collect();
    sort_by(&mut order, |a, b| counts[*a as usize].cmp(&counts[*b as usize]));
    let mut rank = vec![0; order.len()];
    for (place, id) in order.iter().enumerate() {
        rank[*id as usize] = place as u32;
    }
    for set in &mut numbered {
        for id in set.iter_mut() {
            *id = rank[*id as usize];
        }
        sort(set);
    }
    numbered
}

/// Seeds in order, and for a set the first seed whose Jaccard similarity reaches the threshold.
///
/// Decides as a comparison with every seed in turn would. Empty sets are similar to nothing above a threshold of 0.
pub struct FirstFit {
    threshold: f64,
    seeds: Vec<Vec<u32>>,
    postings: Vec<Vec<u32>>,
    compared: Vec<u32>,
    round: u32,
    #[cfg(test)]
    comparisons: u64,
}

impl FirstFit {
    /// Makes an index without seeds.
    pub fn new(threshold: f64) -> Self {
        Self {
            threshold,
            seeds: Vec::new(),
            postings: Vec::new(),
            compared: Vec::new(),
            round: 0,
            #[cfg(test)]
            comparisons: 0,
        }
    }

    /// Adds a seed behind the others and returns its position.
    pub fn push(&mut self, set: Vec<u32>) -> usize {
        let position = self.seeds.len();
        for word in &set[..self.prefix(set.len())] {
            let word = *word as usize;
            if self.postings.len() <= word {
                self.postings.resize(word + 1, Vec::new());
            }
            self.postings[word].push(position as u32);
        }
        self.seeds.push(set);
        self.compared.push(0);
        position
    }

    /// Returns the first seed that is similar and that `accept` lets pass.
    pub fn find(&mut self, set: &[u32], accept: &dyn Fn(usize) -> bool) -> Option<usize> {
        if self.threshold <= 0.0 {
            return (0..self.seeds.len()).find(|seed| accept(*seed));
        }
        self.round += 1;
        let mut best: Option<usize> = None;
        for word in &set[..self.prefix(set.len())] {
            for seed in self.postings.get(*word as usize).map_or(&[][..], Vec::as_slice) {
                let seed = *seed as usize;
                if best.is_some_and(|best| seed >= best) {
                    break;
                }
                if self.compared[seed] == self.round {
                    continue;
                }
                self.compared[seed] = self.round;
                #[cfg(test)]
                {
                    self.comparisons += 1;
                }
                let other = &self.seeds[seed];
                // No two sets are more similar than their sizes; division keeps the order when it rounds.
                let bound = set.len().min(other.len()) as f64 / set.len().max(other.len()) as f64;
                if bound >= self.threshold && similarity(set, other) >= self.threshold && accept(seed) {
                    best = Some(seed);
                }
            }
        }
        best
    }

    /// Returns how many of a set's rarest words must include one of any similar set.
    ///
    /// Similar sets share at least `threshold * size` words of each, hence the rarest shared word stands before the
    /// last `that - 1` words. The margin covers the rounding of the exact comparison.
    fn prefix(&self, size: usize) -> usize {
        let shared = (self.threshold * size as f64 * (1.0 - 1e-12)).ceil().max(1.0) as usize;
        (size + 1).saturating_sub(shared).min(size)
    }
}

/// Returns the Jaccard similarity of two ascending sets, 0 when both are empty.
fn similarity(a: &[u32], b: &[u32]) -> f64 {
    let (mut i, mut j, mut shared) = (0, 0, 0_usize);
    while let (Some(left), Some(right)) = (a.get(i), b.get(j)) {
        shared += usize::from(left == right);
        i += usize::from(left <= right);
        j += usize::from(right <= left);
    }
    if a.is_empty() && b.is_empty() {
        return 0.0;
    }
    shared as f64 / (a.len() + b.len() - shared) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::jaccard;

    fn exact(sets: &[WordSet], threshold: f64) -> Vec<usize> {
        let mut seeds: Vec<usize> = Vec::new();
        let mut homes = Vec::new();
        for (index, set) in sets.iter().enumerate() {
            let home = seeds.iter().position(|seed| jaccard(&sets[*seed], set) >= threshold).unwrap_or_else(|| {
                seeds.push(index);
                seeds.len() - 1
            });
            homes.push(home);
        }
        homes
    }

    fn indexed(sets: &[WordSet], threshold: f64) -> Vec<usize> {
        let mut index = FirstFit::new(threshold);
        let numbered = number_words(sets).into_iter();
        numbered.map(|set| index.find(&set, &|_| true).unwrap_or_else(|| index.push(set))).collect()
    }

    #[test]
    fn decides_as_comparing_with_every_seed() {
        let mut state = 7_u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for round in 0..200 {
            let sets: Vec<WordSet> = (0..40)
                .map(|_| {
                    let size = random(9);
                    WordSet::new((0..size).map(|_| format!("w{}", random(12))).collect())
                })
                .collect();
            for threshold in [0.0, 1e-9, 0.1, 0.25, 1.0 / 3.0, 0.4, 0.5, 0.6, 2.0 / 3.0, 0.75, 0.85, 0.9, 1.0] {
                assert_eq!(indexed(&sets, threshold), exact(&sets, threshold), "round {round} threshold {threshold}");
            }
        }
    }

    #[test]
    fn few_of_ten_thousand_seeds_are_compared() {
        let sets: Vec<WordSet> = (0..10_000_u64)
            .map(|n| {
                let rare = (0..10_u64).map(|w| format!("w{}", (n * 7919 + w * w * 104_729) % 2003));
                WordSet::new(rare.chain(["user".to_owned(), "asked".to_owned()]).collect())
            })
            .collect();
        let mut index = FirstFit::new(0.5);
        for set in number_words(&sets) {
            if index.find(&set, &|_| true).is_none() {
                index.push(set);
            }
        }
        // Comparing with every seed in turn takes millions.
        assert!(index.seeds.len() > 1000);
        assert!(index.comparisons < 300_000, "{}", index.comparisons);
    }

    #[test]
    fn a_refused_seed_is_passed_over() {
        let mut index = FirstFit::new(0.5);
        for _ in 0..3 {
            index.push(vec![1, 2]);
        }
        assert_eq!(index.find(&[1, 2], &|seed| seed > 1), Some(2));
        assert_eq!(index.find(&[1, 2], &|_| false), None);
        assert_eq!(index.find(&[], &|_| true), None);
    }
}
