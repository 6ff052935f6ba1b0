//! Digests: what a reader of a large result wants to know first, within a number of tokens.
//!
//! Every shape has an extractor that names candidates, each with a rank and a place. One engine takes them by rank
//! until the room is used and writes them in the order of the source. What is quoted stands in the source as it is
//! written here; labels (counts, paths, column names) are derived and say so by their form.

pub(crate) mod columns;
mod diff;
mod json;
mod leaves;
pub(crate) mod level;
mod lined;
mod markup;
mod survey;
mod tables;

use std::collections::{HashMap, HashSet};

use super::sniff::{Shape, SniffedText};
use contextweaver_base::order;
use contextweaver_model::JsonMap;
use contextweaver_text::lines::lines;
use contextweaver_text::tokens::Estimator;
use contextweaver_text::unicode;

/// Characters of one quoted piece.
const PIECE_CHARS: usize = 140;
/// Quarter tokens below which the rest of a room is not worth a piece.
const MIN_PIECE: u64 = 48;
/// Candidates of one rank; more of them cannot fit any room worth the name.
const MAX_PER_RANK: usize = 48;

/// The part of a text that is worth a look after its digest.
#[derive(Debug, Clone, PartialEq)]
pub struct Focus {
    /// The slice, as a selector of `drilldown`.
    pub selector: JsonMap,
    /// What it shows, in a few words.
    pub label: String,
}

/// What a large text says, in short.
#[derive(Debug, Clone, PartialEq)]
pub struct Digest {
    /// The digest; the text itself when that fits.
    pub text: String,
    /// What the text was taken for.
    pub shape: Shape,
    /// The most useful slice, if one stands out.
    pub focus: Option<Focus>,
}

/// How urgent a candidate is; the order of the variants is the order in which room is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// What it is and how much.
    Head,
    /// A distinct error.
    Error,
    /// Where the error is, and what stands beside it.
    Cause,
    /// Totals, counts, decisions, where the next page starts.
    Total,
    /// A warning.
    Warning,
    /// A record unlike the others.
    Odd,
    /// The first and the last.
    Ends,
    /// Names and ids of the whole.
    Id,
    /// Columns, keys, headings.
    Schema,
    /// Anything else, only while there is plenty of room.
    More,
}

/// Ranks, for tables by rank.
const RANKS: usize = 10;

/// A candidate: derived label, quoted text.
#[derive(Debug)]
struct DigestFact {
    rank: Rank,
    /// Byte offset in the source; the head is at 0.
    place: usize,
    label: String,
    text: String,
}

/// Candidates in the order they were found.
#[derive(Debug, Default)]
struct DigestFacts {
    list: Vec<DigestFact>,
    counts: [usize; RANKS],
    focus: Option<Focus>,
}

impl DigestFacts {
    /// Takes a candidate unless there are enough of its rank.
    fn add(&mut self, rank: Rank, place: usize, label: &str, text: &str) {
        let count = &mut self.counts[rank as usize];
        if *count < MAX_PER_RANK && !(text.is_empty() && label.is_empty()) {
            *count += 1;
            let (label, text) = (one_line(label), one_line(text));
            self.list.push(DigestFact { rank, place, label, text });
        }
    }

    /// Remembers the first place worth a look.
    fn look_at(&mut self, label: &str, selector: serde_json::Value) {
        if let (None, serde_json::Value::Object(selector)) = (&self.focus, selector) {
            self.focus = Some(Focus { selector, label: label.to_owned() });
        }
    }
}

/// Selects the lines from `before` lines before the one at a byte offset to `after` lines after it.
fn lines_at(text: &str, place: usize, before: usize, after: usize) -> serde_json::Value {
    let head = &text[..place];
    let line = lines(head).count() - usize::from(!head.is_empty() && !head.ends_with(['\n', '\r']));
    serde_json::json!({ "type": "lines", "start": line.saturating_sub(before), "end": line + after + 1 })
}

/// Line ends inside a piece become spaces, so that one candidate is one line.
fn one_line(text: &str) -> String {
    text.trim().replace(['\n', '\r'], " ")
}

/// Writes what a text says into at most `budget_tokens` tokens; a text that fits is returned as it is.
///
/// ```
/// use contextweaver_content::{Shape, digest};
/// use contextweaver_text::tokens::Estimator;
///
/// let csv: String = (0..500).map(|n| format!("{n},{},paid\n", n % 7)).collect();
/// let csv = format!("id,amount,state\n{csv}500,3,refused\n");
/// let short = digest(&csv, "text/csv", 120, &Estimator::V3);
/// assert_eq!(short.shape, Shape::Table(b','));
/// assert!(short.text.starts_with("501 rows, 3 columns"));
/// assert!(short.text.contains("500,3,refused"), "the row that stands out");
/// assert!(Estimator::V3.tokens(&short.text) <= 120);
/// ```
pub fn digest(text: &str, media_type: &str, budget_tokens: u64, estimator: &Estimator) -> Digest {
    digest_sniffed(&SniffedText::new(media_type, text), budget_tokens, estimator)
}

/// Writes a digest as [`digest()`] does, of a text whose shape is known.
pub fn digest_sniffed(source: &SniffedText, budget_tokens: u64, estimator: &Estimator) -> Digest {
    let SniffedText { text, shape, tree } = source;
    let shape = *shape;
    if estimator.fits(text, budget_tokens) {
        return Digest { text: (*text).to_owned(), shape, focus: None };
    }
    let mut facts = DigestFacts::default();
    match shape {
        Shape::Json => tree.iter().for_each(|tree| json::value(tree, &mut facts)),
        Shape::Ndjson => json::lines(text, &mut facts),
        Shape::Table(separator) => tables::delimited(text, separator, &mut facts),
        Shape::Diff => diff::facts(text, &mut facts),
        Shape::Markup => markup::facts(text, &mut facts),
        _ => lined::facts(text, shape, &mut facts),
    }
    let focus = facts.focus.take();
    Digest { text: fill(facts.list, budget_tokens, estimator), shape, focus }
}

/// Share of the room, in percent, that a rank gets before the others have had theirs.
const fn share(rank: Rank) -> u64 {
    match rank {
        Rank::Head => 100,
        Rank::Error => 55,
        Rank::Odd | Rank::Total | Rank::Ends => 30,
        Rank::Cause | Rank::Warning | Rank::Schema => 20,
        Rank::Id => 15,
        Rank::More => 10,
    }
}

fn fill(mut facts: Vec<DigestFact>, budget_tokens: u64, estimator: &Estimator) -> String {
    order::sort_by(&mut facts, |a, b| a.rank.cmp(&b.rank));
    let room = budget_tokens.saturating_mul(4).saturating_add(3);
    let between = estimator.quarters(": \n");
    let mut used = 0;
    // One candidate for one place, one price for one label.
    let (mut places, mut labels) = (HashSet::new(), HashSet::new());
    let mut chosen: Vec<bool> = facts.iter().map(|_| false).collect();
    for pass in 0..2 {
        let mut by_rank = [0_u64; RANKS];
        for (at, fact) in facts.iter_mut().enumerate() {
            let bound = if pass == 0 { room * share(fact.rank) / 100 } else { room };
            if chosen[at] || used * 100 > room * enough(fact.rank, pass) {
                continue;
            }
            let head = if fact.rank == Rank::Head { Some(fact.label.clone()) } else { None };
            let place = (fact.place, head);
            let label = if labels.contains(&fact.label) { 0 } else { estimator.quarters(&fact.label) };
            let left = (room - used).min(bound.saturating_sub(by_rank[fact.rank as usize]));
            let mut cost = label + estimator.quarters(&fact.text) + between;
            if cost > left
                && by_rank[fact.rank as usize] == 0
                && left >= label + between + MIN_PIECE
                && !places.contains(&place)
            {
                fact.text = shorten(&fact.text, left - label - between, estimator);
                cost = label + estimator.quarters(&fact.text) + between;
            }
            if cost <= left && places.insert(place) {
                (used, chosen[at]) = (used + cost, true);
                by_rank[fact.rank as usize] += cost;
                labels.insert(fact.label.clone());
            }
        }
    }
    let mut keep = chosen.into_iter();
    facts.retain(|_| keep.next().unwrap_or(false));
    write(facts)
}

/// How full the room may be, in percent, when a candidate of a rank is still taken: what is of little use does not
/// use it up.
const fn enough(rank: Rank, pass: usize) -> u64 {
    match rank {
        Rank::More if pass == 0 => 40,
        Rank::More => 0,
        Rank::Schema if pass == 1 => 80,
        _ => 100,
    }
}

/// Writes candidates in the order of the source, those under one label together.
fn write(mut facts: Vec<DigestFact>) -> String {
    let mut firsts: HashMap<String, (bool, usize)> = HashMap::new();
    for fact in facts.iter().filter(|fact| !fact.label.is_empty()) {
        let place = (fact.rank != Rank::Head, fact.place);
        let first = firsts.entry(fact.label.clone()).or_insert(place);
        *first = place.min(*first);
    }
    let place = |fact: &DigestFact| {
        let own = (fact.rank != Rank::Head, fact.place);
        (firsts.get(&fact.label).copied().unwrap_or(own), own)
    };
    order::sort_by(&mut facts, |a, b| place(a).cmp(&place(b)));
    let mut out = String::new();
    let mut last = "";
    for fact in &facts {
        if !last.is_empty() && last == fact.label {
            out.push_str(", ");
        } else {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(&fact.label);
            if !fact.label.is_empty() && !fact.text.is_empty() {
                out.push_str(": ");
            }
        }
        out.push_str(&fact.text);
        last = &fact.label;
    }
    out
}

/// The longest beginning that costs at most `quarters`, its end marked.
fn shorten(text: &str, quarters: u64, estimator: &Estimator) -> String {
    let mark = estimator.quarters("…");
    let mut left = quarters.saturating_sub(mark);
    let mut buffer = [0; 4];
    for (at, ch) in text.char_indices() {
        let cost = estimator.quarters(ch.encode_utf8(&mut buffer));
        if cost > left {
            return format!("{}…", text[..unicode::token_boundary(text, at)].trim_end());
        }
        left -= cost;
    }
    text.to_owned()
}

/// Cuts a long piece to what stands around byte `at`, cuts marked.
fn around(text: &str, at: usize) -> String {
    around_within(text, at, PIECE_CHARS)
}

fn around_within(text: &str, at: usize, chars: usize) -> String {
    if text.len() <= chars || text.chars().nth(chars).is_none() {
        return text.to_owned();
    }
    // A third of the piece stands before the word that matters.
    let before = text.get(..at).unwrap_or("");
    let from = before.char_indices().rev().nth(chars / 3).map_or(0, |(from, _)| from);
    let from = if from > 0 { token_start(text, from, at) } else { 0 };
    let piece = whole_tokens(&text[from..], chars);
    if from > 0 { format!("…{piece}") } else { piece }
}

/// Cuts a text to so many characters at most, between tokens, and marks the cut.
fn whole_tokens(text: &str, chars: usize) -> String {
    let cut = unicode::prefix(text, chars);
    if cut.len() == text.len() {
        return text.to_owned();
    }
    format!("{}…", text[..unicode::token_boundary(text, cut.len())].trim_end())
}

/// Returns where the first token begins that is not cut by starting from a byte; the byte itself where that would be behind
/// `last`.
fn token_start(text: &str, from: usize, last: usize) -> usize {
    let is_start = |at: &usize| {
        let before = text[..*at].chars().next_back().unwrap_or(' ');
        before.is_whitespace()
            || matches!(before, ';' | '{' | '}' | '(' | ')' | '[' | ']' | '|' | '<' | '>' | '&' | '=')
    };
    let last = last.max(from).min(text.len());
    text[from..last].char_indices().map(|(at, _)| from + at).find(is_start).unwrap_or(from)
}

/// Writes a count and what is counted.
fn count(number: usize, one: &str) -> String {
    let plural = match one {
        _ if number == 1 => "",
        "match" => "es",
        _ => "s",
    };
    format!("{number} {one}{plural}")
}
