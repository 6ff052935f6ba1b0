//! Finding past conversations by what they were about.

use std::collections::HashMap;

use super::EpisodicStore;
use contextweaver_base::order::{sort, sort_by};
use contextweaver_model::Episode;
use contextweaver_text::terms::for_each_term;

/// How soon further occurrences of a term in one episode stop counting, and how much long episodes are held back: the
/// customary values of BM25.
const SATURATION: f64 = 1.2;
const LENGTH_SHARE: f64 = 0.75;

/// An occurrence of a term of the query.
#[derive(Clone, Copy)]
struct EpisodeHit {
    term: usize,
    episode: usize,
    count: f64,
}

impl EpisodicStore {
    /// Returns the episodes that share a term with the query, best first, at most `top_k`. Summaries and tags count;
    /// equally good episodes stay in their order.
    pub fn search(&self, query: &str, top_k: usize) -> Vec<&Episode> {
        let mut wanted = HashMap::new();
        for_each_term(query, |term| {
            let next = wanted.len();
            wanted.entry(term.to_owned()).or_insert(next);
        });
        let (hits, lengths) = self.hits(&wanted);
        let mut frequency = vec![0_u32; wanted.len()];
        for hit in &hits {
            frequency[hit.term] += 1;
        }
        let total = self.all().len() as f64;
        let average = (lengths.iter().sum::<f64>() / total.max(1.0)).max(1.0);
        let mut scores = vec![0.0; lengths.len()];
        for hit in hits {
            let rarity = libm::log(1.0 + total / f64::from(frequency[hit.term]));
            let long = 1.0 - LENGTH_SHARE + LENGTH_SHARE * lengths[hit.episode] / average;
            scores[hit.episode] += rarity * hit.count / (hit.count + SATURATION * long);
        }
        let places = ranked(&scores).into_iter().filter(|place| scores[*place] > 0.0);
        places.take(top_k).map(|place| &self.all()[place]).collect()
    }

    /// Returns the occurrences of the wanted terms, and how many terms each episode has.
    fn hits(&self, wanted: &HashMap<String, usize>) -> (Vec<EpisodeHit>, Vec<f64>) {
        let mut hits = Vec::new();
        let mut lengths = Vec::with_capacity(self.all().len());
        let mut found = Vec::new();
        for (place, episode) in self.all().iter().enumerate() {
            let mut length = 0_u32;
            let texts = std::iter::once(&episode.summary).chain(&episode.tags);
            for text in texts {
                for_each_term(text, |term| {
                    length += 1;
                    found.extend(wanted.get(term));
                });
            }
            sort(&mut found);
            let runs = found.chunk_by(|a, b| a == b);
            hits.extend(runs.map(|run| EpisodeHit { term: run[0], episode: place, count: run.len() as f64 }));
            found.clear();
            lengths.push(f64::from(length));
        }
        (hits, lengths)
    }
}

/// Returns the places of scores, highest first.
fn ranked(scores: &[f64]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..scores.len()).collect();
    sort_by(&mut places, |a, b| scores[*b].total_cmp(&scores[*a]));
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn store(summaries: &[&str]) -> EpisodicStore {
        let mut store = EpisodicStore::new();
        for (place, summary) in summaries.iter().enumerate() {
            let episode = json!({ "episode_id": format!("e{place}"), "summary": summary });
            store.add(Episode::from_value(episode, "").unwrap()).unwrap();
        }
        store
    }

    #[test]
    fn only_relevant_episodes_are_found_in_any_script() {
        let store = store(&["Přihlášení selhalo", "日本語のログ", "login failed twice, login", "logins were fine", ""]);
        for (query, top, wanted) in [
            ("přihlášení", 5, vec!["e0"]),
            ("日本語", 5, vec!["e1"]),
            ("login", 5, vec!["e2", "e3"]),
            ("login", 1, vec!["e2"]),
            ("login", 0, vec![]),
            ("unrelated words", 5, vec![]),
            ("the of", 5, vec![]),
            ("", 5, vec![]),
        ] {
            let found: Vec<&str> = store.search(query, top).iter().map(|e| e.episode_id.as_str()).collect();
            assert_eq!(found, wanted, "{query:?}");
        }
        assert!(EpisodicStore::new().search("login", 5).is_empty());
    }

    #[test]
    fn rare_terms_and_tags_count() {
        let mut store = store(&["deploy billing", "deploy search", "deploy login"]);
        let tagged = json!({ "episode_id": "t", "summary": "deploy", "tags": ["rollback"] });
        store.add(Episode::from_value(tagged, "").unwrap()).unwrap();
        assert_eq!(store.search("deploy rollback", 1)[0].episode_id, "t");
        assert_eq!(store.search("deploy search", 1)[0].episode_id, "e1");
    }
}
