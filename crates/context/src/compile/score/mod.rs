//! Stage 5: relevance.

pub mod bm25n;

use crate::compile::repeats::exact_repeats;
use crate::compile::select::row::CandidateRow;
use crate::compile::state::BuildState;
use crate::digest_note;
use contextweaver_model::{ItemKind, ScoreParts};

/// Stage 5. Returns the weighted terms, which excerpts need.
pub fn score(state: &mut BuildState) -> bm25n::TermWeights {
    let (sources, request) = (state.sources, state.request);
    let is_shown = |row: &CandidateRow| !row.stub && row.redacted.is_none();
    // A remark that was made many times counts its words once.
    let turns = state.rows.iter().filter(|row| is_shown(row) && state.items()[row.at].kind.is_turn()).map(|row| row.at);
    let repeats = exact_repeats(state.items(), turns, |at| sources.index.entry(at).fingerprint);
    let is_repeat = |at: usize| repeats.binary_search_by_key(&at, |(at, _)| *at).is_ok();
    let shown: Vec<usize> = (0..state.rows.len())
        .filter(|index| is_shown(&state.rows[*index]) && !is_repeat(state.rows[*index].at))
        .collect();
    let visible: Vec<usize> = shown.iter().map(|index| state.rows[*index].at).collect();
    // A long result reaches as far as it did before it was digested.
    let cost = |row: &CandidateRow| {
        let behind = digest_note::tokens(&state.items()[row.at]).unwrap_or_default();
        (row.quarters as f64 / 4.0).max(behind as f64)
    };
    let costs: Vec<f64> = shown.iter().map(|index| cost(&state.rows[*index])).collect();
    let items = state.items();
    let is_turn = |at: &usize| items[*at].kind == ItemKind::UserTurn;
    let turn = visible.iter().rposition(is_turn).unwrap_or(visible.len());
    let scope = bm25n::ScoreScope { items, index: sources.index, visible: &visible, costs: &costs, turn };
    let weights = sources.options.scoring.weights;
    let query =
        bm25n::ScoreQuery { text: &request.query, tags: &request.tags, item_scores: &request.item_scores, weights };
    let scores = bm25n::score(&scope, &query);
    state.parts = vec![ScoreParts::default(); state.rows.len()];
    state.scores = vec![0.0; state.rows.len()];
    for (rank, index) in shown.iter().enumerate() {
        state.parts[*index] = scores.parts[rank];
        state.scores[*index] = scores.total[rank];
        state.rows[*index].text_score = scores.parts[rank].text;
    }
    for (repeat, newest) in &repeats {
        if let (Some(repeat), Some(newest)) = (state.row_of(*repeat), state.row_of(*newest)) {
            state.parts[repeat] = state.parts[newest];
            state.scores[repeat] = state.scores[newest];
            state.rows[repeat].text_score = state.rows[newest].text_score;
        }
    }
    state.work += scores.work;
    state.thinness = scores.thinness;
    scores.terms
}
