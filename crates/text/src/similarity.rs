//! Set similarity.

use contextweaver_base::order::WordSet;

/// Returns the Jaccard similarity of two sets, 0 when both are empty.
pub fn jaccard(a: &WordSet, b: &WordSet) -> f64 {
    if a.is_empty() && b.is_empty() {
        return 0.0;
    }
    let shared = a.shared(b);
    shared as f64 / (a.len() + b.len() - shared) as f64
}
