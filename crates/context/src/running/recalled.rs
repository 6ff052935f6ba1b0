//! What left comes back by appending: where the words of a step point at something that is not shown, a short part of it is put
//! behind what stands, as what it is.
//!
//! Words are weighed by how rare they are in the log (the idf of BM25); one that stands in something that is shown whole does not
//! count, as what it points at may be there.

use super::prompt::{RunningPrompt, RunningSection};
use crate::compile::excerpt::{GAP, TermStarts, split};
use crate::compile::inputs::BuildInputs;
use crate::compile::prompt::EntryContent;
use crate::index::LogIndex;
use contextweaver_base::order::sort_by;
use contextweaver_model::{ItemKind, RenderedAs};
use contextweaver_text::terms::for_each_term;
use std::cell::LazyCell;
use std::collections::HashMap;

/// Least weight, in nats, that the words of a step must have in a passage for it to come back. One word that stands
/// nowhere else weighs about that much.
const LEAST_WEIGHT: f64 = 5.0;
/// A word in more items than this, or in more than this share of all, points at none of them.
const MOST_ITEMS: f64 = 12.0;
const MOST_SHARE: f64 = 0.1;
/// Occurrences in a passage beyond which further ones do not count, as in BM25.
const SATURATION: f64 = 1.2;
/// Parts that come back in a step at most.
const MOST_PARTS: usize = 3;
/// Most tokens of one part. It is also bounded by the budget divided by `PART_SHARE`.
const PART_TOKENS: u64 = 80;
const PART_SHARE: u64 = 40;
/// Bytes that are read of an item.
const MOST_READ: usize = 256 << 10;
/// Pieces whose score is at least this share of the best one's are shown with it.
const GOOD: f64 = 0.5;

/// Finds parts of items that left the prompt and that the words of new sections point at, and returns them best first.
///
/// `budget` is in tokens.
pub fn recalled(
    sources: &BuildInputs,
    running: &RunningPrompt,
    new: &[RunningSection],
    budget: u64,
) -> Vec<RunningSection> {
    let wanted = Wanted::of(sources, running, new);
    let mut parts = Vec::new();
    if wanted.weights.is_empty() {
        return parts;
    }
    let room = PART_TOKENS.min(budget / PART_SHARE);
    let ended = LazyCell::new(|| sources.ended());
    for (_, at) in wanted.places(sources.index).into_iter().take(2 * MOST_PARTS) {
        if parts.len() == MOST_PARTS {
            break;
        }
        let Some(text) = wanted.part(sources, at, 4 * room) else { continue };
        // A rule that holds no more would stand behind what took its place.
        let speaks_of = |ended: &str| text.contains(ended) || ended.contains(&text);
        if sources.events.items()[at].kind == ItemKind::UserTurn
            && ended.iter().any(|(home, ended)| *home == at && speaks_of(ended))
        {
            continue;
        }
        let is_there = |section: &RunningSection| matches!(&section.content, EntryContent::Quote { text: shown, .. } if section.at == at && shown.contains(&text));
        if running.sections.iter().any(is_there) {
            continue;
        }
        let (form, content) = (RenderedAs::Excerpt, EntryContent::Quote { text, note: None });
        let mut part = RunningSection {
            at,
            form,
            content,
            is_stored: false,
            omitted_chars: None,
            recalled: true,
            is_repeat: false,
            is_digest: false,
            quarters: 0,
        };
        part.weigh(sources);
        parts.push(part);
    }
    parts
}

/// What a prompt shows of an item.
#[derive(Clone, Copy, PartialEq)]
enum Shown {
    /// Nothing that may be told: of another phase, withheld, replaced, or new.
    Never,
    /// Not all of it.
    Partly,
    Whole,
}

struct Wanted {
    shown: Vec<Shown>,
    /// By term.
    weights: HashMap<u32, f64>,
    /// In the order of the step's words, so that sums are the same everywhere.
    order: Vec<u32>,
    starts: TermStarts,
}

impl Wanted {
    fn of(sources: &BuildInputs, running: &RunningPrompt, new: &[RunningSection]) -> Self {
        let (items, index) = (sources.events.items(), sources.index);
        let mut shown = vec![Shown::Never; items.len()];
        for left in running.left.iter().filter(|left| left.stage != contextweaver_model::Stage::Sensitivity) {
            // What was edited since is told no more.
            if !items[left.at].is_superseded() {
                shown[left.at] = Shown::Partly;
            }
        }
        let mut hides = !running.left.is_empty();
        for section in running.sections.iter().filter(|section| !section.recalled && !section.is_repeat) {
            shown[section.at] = match section.form {
                _ if section.is_all(index) => Shown::Whole,
                RenderedAs::Redacted => Shown::Never,
                _ => Shown::Partly,
            };
            hides |= shown[section.at] == Shown::Partly;
        }
        // What the agent said beside its calls repeats what results say.
        for (at, pair) in items.windows(2).enumerate() {
            let is_beside_call = pair[0].kind == ItemKind::AgentMsg && pair[1].kind == ItemKind::ToolCall;
            if is_beside_call && shown[at] == Shown::Partly {
                shown[at] = Shown::Never;
            }
        }
        let mut wanted = Self { shown, weights: HashMap::new(), order: Vec::new(), starts: TermStarts::default() };
        if !hides {
            return wanted;
        }
        let count = items.len() as f64;
        let most = MOST_ITEMS.min((MOST_SHARE * count).max(3.0));
        for section in new {
            if !matches!(items[section.at].kind, ItemKind::UserTurn | ItemKind::AgentMsg | ItemKind::ToolCall) {
                continue;
            }
            for term in &index.entry(section.at).terms {
                if wanted.weights.contains_key(term) {
                    continue;
                }
                let (mut found, mut last, mut partly, mut whole) = (0.0, u32::MAX, false, false);
                for posting in index.postings(*term) {
                    let at = index.passages()[posting.passage as usize].at;
                    if at != last {
                        found += 1.0;
                        last = at;
                        partly |= wanted.shown[at as usize] == Shown::Partly;
                        whole |= wanted.shown[at as usize] == Shown::Whole;
                    }
                }
                if !partly || whole || found > most {
                    continue;
                }
                let rarity = libm::log(1.0 + (count - found + 0.5) / (found + 0.5));
                wanted.weights.insert(*term, rarity);
                wanted.order.push(*term);
                wanted.starts.add(index.word(*term));
            }
        }
        wanted
    }

    /// Returns the items that the words point at, with what they weigh there, the best first and the newest of equals.
    fn places(&self, index: &LogIndex) -> Vec<(f64, usize)> {
        let mut scores: HashMap<u32, f64> = HashMap::new();
        for term in &self.order {
            for posting in index.postings(*term) {
                let passage = posting.passage;
                if self.shown[index.passages()[passage as usize].at as usize] == Shown::Partly {
                    let count = f64::from(posting.count);
                    *scores.entry(passage).or_default() +=
                        self.weights[term] * count * (SATURATION + 1.0) / (count + SATURATION);
                }
            }
        }
        let mut best: HashMap<usize, f64> = HashMap::new();
        for (passage, score) in scores {
            let found = best.entry(index.passages()[passage as usize].at as usize).or_default();
            *found = found.max(score);
        }
        let mut places: Vec<(f64, usize)> =
            best.into_iter().filter(|(_, score)| *score >= LEAST_WEIGHT).map(|(at, score)| (score, at)).collect();
        sort_by(&mut places, |a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        places
    }

    /// Returns the pieces of an item that hold the words, with what stands around the best, within so many quarter tokens.
    fn part(&self, sources: &BuildInputs, at: usize, room: u64) -> Option<String> {
        let item = &sources.events.items()[at];
        // Credentials are masked there.
        let text = sources.index.entry(at).source(item, sources.artifacts);
        let end = contextweaver_text::unicode::floor_char_boundary(text, text.len().min(MOST_READ));
        let pieces = split(&text[..end]);
        let mut scores = vec![0.0; pieces.len()];
        for (piece, score) in pieces.iter().zip(&mut scores) {
            if !self.starts.may_stand_in(piece) {
                continue;
            }
            let mut seen: Vec<u32> = Vec::new();
            for_each_term(piece, |term| {
                if let Some(id) = sources.index.term(term)
                    && let Some(weight) = self.weights.get(&id)
                    && !seen.contains(&id)
                {
                    seen.push(id);
                    *score += weight;
                }
            });
        }
        let mut ranked: Vec<usize> = (0..pieces.len()).filter(|at| scores[*at] > 0.0).collect();
        sort_by(&mut ranked, |a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
        let best = scores[*ranked.first()?];
        let weigh = |piece: &str| sources.options.estimator.quarters(piece) + 2;
        let mut taken = vec![false; pieces.len()];
        let mut used = 0;
        let mut take = |at: usize, taken: &mut Vec<bool>| {
            let more = weigh(pieces[at]);
            let fits = used + more <= room;
            if fits && !std::mem::replace(&mut taken[at], true) {
                used += more;
            }
            fits
        };
        for at in ranked.iter().take_while(|at| scores[**at] >= GOOD * best) {
            if !take(*at, &mut taken) {
                break;
            }
        }
        // What stands around the best says what it is.
        let (mut before, mut after) = (ranked[0], ranked[0]);
        let mut is_open = taken[ranked[0]];
        while is_open {
            is_open = false;
            if after + 1 < pieces.len() && take(after + 1, &mut taken) {
                after += 1;
                is_open = true;
            }
            if before > 0 && take(before - 1, &mut taken) {
                before -= 1;
                is_open = true;
            }
        }
        let mut said = String::new();
        let mut last = None;
        for at in (0..pieces.len()).filter(|at| taken[*at]) {
            if last.is_some_and(|last| last + 1 < at) {
                said = said.trim_end().to_owned();
                said.push_str(GAP);
            }
            said.push_str(pieces[at]);
            last = Some(at);
        }
        let said = said.trim().to_owned();
        (!said.is_empty()).then_some(said)
    }
}

/// Puts what came back among what is new: above what the user says last, and above a last step of the model, which waits for what is
/// behind it.
pub fn placed(sources: &BuildInputs, new: Vec<RunningSection>, back: Vec<RunningSection>) -> Vec<RunningSection> {
    let kind = |section: &RunningSection| sources.events.items()[section.at].kind;
    let is_model = |section: &RunningSection| matches!(kind(section), ItemKind::AgentMsg | ItemKind::ToolCall);
    let at = if new.last().is_some_and(is_model) {
        new.iter().rposition(|section| !is_model(section)).map_or(0, |last| last + 1)
    } else {
        new.iter().rposition(|section| kind(section) == ItemKind::UserTurn).unwrap_or(new.len())
    };
    let mut placed = new;
    placed.splice(at..at, back);
    placed
}
