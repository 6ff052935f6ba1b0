//! The tools that write or read the files that a request names.

use super::ToolIndex;
use super::analyse::for_each_term;
use super::files::NamedFile;
use super::rank::{RankScope, ScoredPlace, best_score};
use contextweaver_text::numbered::Term;

/// Part of the best score that a tool for the file has at least: a name alone makes no tool one for it.
const LEAST_PART: f64 = 0.7;
/// What the best tool for a file counts beside the best tool: it comes among the first, behind what the request is about.
const FILE_SHARE: f64 = 0.95;

impl ToolIndex {
    /// Raises the tools that write or read files to nearly the best score.
    pub(super) fn serve_files(&mut self, candidates: &mut [ScoredPlace], files: &[NamedFile], scope: RankScope) {
        for file in files {
            let wish = file.wish();
            let query = self.read_plain(&wish.join(" "));
            let scored = self.score(&query, scope);
            let mut parts = vec![0.0_f64; self.items.len()];
            let best = best_score(&scored);
            for ScoredPlace { place, score } in scored {
                parts[place as usize] = score / best;
            }
            let named = wish.map(|word| self.named(word));
            let best = best_score(candidates);
            for candidate in candidates.iter_mut() {
                let part = parts[candidate.place as usize];
                if part >= LEAST_PART && named.iter().all(|named| named.binary_search(&candidate.place).is_ok()) {
                    candidate.score = candidate.score.max(FILE_SHARE * best * part);
                }
            }
            self.work += self.items.len() as u64;
        }
    }

    /// Returns the places of the tools that have a word in their name, in order.
    fn named(&self, word: &str) -> Vec<u32> {
        let mut places = Vec::new();
        for_each_term(word, &mut |term| {
            if let Some(number) = self.terms.get(Term::Word(term)) {
                places.extend(self.postings.entries(number).filter(|entry| entry.field() == 0).map(|entry| entry.item));
            }
        });
        contextweaver_base::order::sort_distinct(&mut places);
        places
    }
}
