//! The pieces of a long text that matter for a query.

use crate::compile::score::bm25n::TermWeights;
use crate::index::LogIndex;
use contextweaver_text::terms::for_each_term;
use contextweaver_text::tokens::Estimator;

/// Longest piece, in characters.
const PIECE_CHARS: usize = 160;
/// Share of the token budget that the start of the text always gets, and the end.
const HEAD_SHARE: f64 = 0.30;
const TAIL_SHARE: f64 = 0.15;
/// How much of the token budget may stay unused, in quarter tokens.
const SLACK: u64 = 200;
/// What a gap may cost beside a piece, in quarter tokens.
const GAP_QUARTERS: u64 = 2;
/// What stands for a gap.
pub const GAP: &str = " … ";

/// An excerpt and what it leaves out.
pub struct Excerpt {
    /// The kept pieces in order, gaps marked.
    pub text: String,
    pub omitted_chars: u64,
    pub work: u64,
}

/// Words to look for in a text.
pub struct ExcerptQuery<'a> {
    /// The log's index, which knows the words.
    pub index: &'a LogIndex,
    pub terms: &'a TermWeights,
    pub visible: usize,
}

/// Takes an excerpt of at most `budget` quarter tokens.
///
/// Pieces are lines, cut after at most 160 characters at white space or a comma. First the start of the text until 30 %
/// of the budget is used, then its end until 15 %, then pieces by the words they hold (half of a neighbour's counts too),
/// then more of the start.
pub fn excerpt(text: &str, budget: u64, wanted: &ExcerptQuery, estimator: &Estimator) -> Excerpt {
    let pieces = split(text);
    let costs: Vec<u64> = pieces.iter().map(|piece| estimator.quarters(piece) + GAP_QUARTERS).collect();
    let scores = spread(&pieces.iter().map(|piece| piece_score(piece, wanted)).collect::<Vec<_>>());
    let mut picker = PiecePicker { costs: &costs, kept: vec![false; pieces.len()], used: 0, budget };
    let head = (budget as f64 * HEAD_SHARE) as u64;
    for index in 0..pieces.len() {
        if picker.used >= head || !picker.take(index) {
            break;
        }
    }
    let tail = picker.used + (budget as f64 * TAIL_SHARE) as u64;
    for index in (0..pieces.len()).rev() {
        if picker.used >= tail || !picker.take(index) {
            break;
        }
    }
    let mut order: Vec<usize> = (0..pieces.len()).filter(|index| scores[*index] > 0.0).collect();
    contextweaver_base::order::sort_by(&mut order, |a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
    for index in order {
        picker.take(index);
    }
    for index in 0..pieces.len() {
        if picker.used + SLACK >= budget {
            break;
        }
        picker.take(index);
    }
    let kept = picker.kept;
    join(&pieces, &kept)
}

struct PiecePicker<'a> {
    costs: &'a [u64],
    kept: Vec<bool>,
    used: u64,
    budget: u64,
}

impl PiecePicker<'_> {
    /// Keeps a piece if it fits; one already kept is no news.
    fn take(&mut self, index: usize) -> bool {
        if self.kept[index] {
            return true;
        }
        if self.used + self.costs[index] > self.budget {
            return false;
        }
        self.kept[index] = true;
        self.used += self.costs[index];
        true
    }
}

/// Cuts text into lines (terminator included), and lines into pieces.
fn split(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    for line in text.split_inclusive('\n') {
        let mut rest = line;
        while let Some((limit, _)) = rest.char_indices().nth(PIECE_CHARS) {
            let window = &rest[..limit];
            let cut = window
                .char_indices()
                .rev()
                .find(|(_, ch)| ch.is_whitespace() || *ch == ',')
                .map_or(limit, |(at, ch)| at + ch.len_utf8());
            pieces.push(&rest[..cut]);
            rest = &rest[cut..];
        }
        if !rest.is_empty() {
            pieces.push(rest);
        }
    }
    pieces
}

fn piece_score(piece: &str, wanted: &ExcerptQuery) -> f64 {
    let mut seen: Vec<u32> = Vec::new();
    let mut score = 0.0;
    for_each_term(piece, |term| {
        if let Some(id) = wanted.index.term(term)
            && !seen.contains(&id)
        {
            seen.push(id);
            score += wanted.terms.of(id, wanted.visible);
        }
    });
    score
}

fn spread(own: &[f64]) -> Vec<f64> {
    (0..own.len())
        .map(|index| {
            let before = index.checked_sub(1).map_or(0.0, |other| own[other]);
            let after = own.get(index + 1).copied().unwrap_or(0.0);
            own[index] + 0.5 * before + 0.5 * after
        })
        .collect()
}

fn join(pieces: &[&str], kept: &[bool]) -> Excerpt {
    let mut out = Excerpt { text: String::new(), omitted_chars: 0, work: pieces.len() as u64 };
    let mut in_gap = false;
    for (piece, kept) in pieces.iter().zip(kept) {
        if *kept {
            if in_gap {
                out.text.push_str(GAP);
            }
            out.text.push_str(piece);
        } else {
            out.omitted_chars += piece.chars().count() as u64;
        }
        in_gap = !kept;
    }
    if in_gap {
        out.text.push_str(GAP.trim_end());
    }
    out
}
