//! The clusters of 0.18: seeds far from one another, every tool with the seed it is most like.

use contextweaver_base::order::sort_by;
use contextweaver_model::SelectableItem;
use contextweaver_routing::graph::cluster::cluster_words;
use contextweaver_routing::graph::words::Vocabulary;

/// Puts tools into at most `count` clusters; the items of a cluster are in the order of their ids,
/// but a single cluster asked for is the list as it came.
pub fn cluster<'a>(items: &[&'a SelectableItem], count: usize) -> Vec<Vec<&'a SelectableItem>> {
    if count <= 1 && !items.is_empty() {
        return vec![items.to_vec()];
    }
    let mut sorted = items.to_vec();
    sort_by(&mut sorted, |a, b| a.id.cmp(&b.id));
    let mut numbers = Vocabulary::default();
    let words: Vec<Vec<u32>> = sorted.iter().map(|item| numbers.of(item)).collect();
    let words: Vec<&[u32]> = words.iter().map(Vec::as_slice).collect();
    let places = cluster_words(&words, count);
    places.into_iter().map(|places| places.into_iter().map(|place| sorted[place]).collect()).collect()
}
