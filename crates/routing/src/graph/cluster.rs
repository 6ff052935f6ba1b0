//! Clusters: seeds far from one another, everything with the seed it is most like.

use contextweaver_base::order::sort;

/// Puts sets of words into at most `count` clusters; returns the places in each. Time grows with `count` times them.
pub fn cluster_words(words: &[&[u32]], count: usize) -> Vec<Vec<usize>> {
    if words.is_empty() {
        return Vec::new();
    }
    if count <= 1 || words.len() == 1 {
        return vec![(0..words.len()).collect()];
    }
    let seeds = seeds(words, count.min(words.len()));
    let mut clusters = vec![Vec::new(); seeds.len()];
    for (place, own) in words.iter().enumerate() {
        let (mut best, mut most) = (0, -1.0);
        for (index, seed) in seeds.iter().enumerate() {
            let likeness = likeness(own, words[*seed]);
            if likeness > most {
                (best, most) = (index, likeness);
            }
        }
        clusters[best].push(place);
    }
    clusters.retain(|cluster| !cluster.is_empty());
    clusters
}

/// Chooses the first and then, again and again, what is farthest from all chosen; of equal ones the first. Returns them sorted.
fn seeds(words: &[&[u32]], count: usize) -> Vec<usize> {
    let mut seeds = vec![0];
    // How far each is from the nearest seed; seeds are out of the question.
    let mut distances = vec![f64::INFINITY; words.len()];
    distances[0] = -1.0;
    let mut newest = 0;
    while seeds.len() < count {
        let (mut farthest, mut most) = (0, -1.0);
        for place in 0..words.len() {
            if distances[place] < 0.0 {
                continue;
            }
            distances[place] = distances[place].min(1.0 - likeness(words[place], words[newest]));
            if distances[place] > most {
                (farthest, most) = (place, distances[place]);
            }
        }
        distances[farthest] = -1.0;
        seeds.push(farthest);
        newest = farthest;
    }
    sort(&mut seeds);
    seeds
}

/// Returns the Jaccard similarity of two sorted sets, 0 when both are empty.
fn likeness(a: &[u32], b: &[u32]) -> f64 {
    let (mut left, mut right, mut shared) = (0, 0, 0);
    while left < a.len() && right < b.len() {
        let (one, other) = (a[left], b[right]);
        shared += usize::from(one == other);
        left += usize::from(one <= other);
        right += usize::from(other <= one);
    }
    let all = a.len() + b.len() - shared;
    if all == 0 { 0.0 } else { shared as f64 / all as f64 }
}
