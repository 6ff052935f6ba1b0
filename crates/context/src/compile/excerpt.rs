//! The pieces of a long text that matter for a query.

use std::collections::HashMap;
use std::ops::Range;

use serde_json::{Value, json};

use crate::compile::score::bm25n::TermWeights;
use crate::index::LogIndex;
use contextweaver_content::{Shape, SniffedText, json_rows};
use contextweaver_model::JsonMap;
use contextweaver_text::lines::lines;
use contextweaver_text::terms::for_each_term;
use contextweaver_text::tokens::Estimator;
use contextweaver_text::unicode::token_boundary;

/// Longest piece, in characters.
const PIECE_CHARS: usize = 160;
/// Share of the token budget that the start of the text always gets, and the end.
const HEAD_SHARE: f64 = 0.30;
const TAIL_SHARE: f64 = 0.15;
/// How much of the token budget may stay unused, in quarter tokens.
const SLACK: u64 = 200;
/// What a gap may cost beside a piece, in quarter tokens.
const GAP_QUARTERS: u64 = 2;
/// No more pieces are tried after this many that did not fit: the ones behind them matter less.
const MAX_MISSES: usize = 512;
/// What stands where a digest cut a line.
const CUT: char = '…';
/// What stands for lines that are left out.
const LINES_GAP: &str = " … \n";
/// What stands for a gap within a line.
pub const GAP: &str = " … ";

/// What stands above the pieces that are quoted below a digest.
const TITLE: &str = "Excerpt:\n";
/// Least characters of a piece that a digest and an excerpt are compared by: shorter ones, such as a bracket, occur often.
const COMPARED_CHARS: usize = 8;

/// An excerpt and what it leaves out.
pub struct Excerpt {
    /// The kept pieces in order, gaps marked.
    pub text: String,
    pub omitted_chars: u64,
    /// The longest stretch that is left out, as a selector of `drilldown`: for `digest_note::note_with`.
    pub missing: Option<JsonMap>,
    /// Pieces that were looked at.
    pub work: u64,
}

/// Words to look for in a text.
pub struct ExcerptQuery<'a> {
    /// The log's index, which knows the words.
    index: &'a LogIndex,
    /// What each word counts.
    terms: &'a TermWeights,
    /// Items of the log that are visible, by which a word is rare or not.
    visible: usize,
    starts: TermStarts,
}

impl<'a> ExcerptQuery<'a> {
    pub fn new(index: &'a LogIndex, terms: &'a TermWeights, visible: usize) -> Self {
        let mut starts = TermStarts::default();
        for term in terms.ids().filter(|id| terms.of(*id, visible) > 0.0) {
            starts.add(index.word(term));
        }
        Self { index, terms, visible, starts }
    }
}

/// The first two bytes of the words to look for. Most pieces of a large text have no word that begins so, and need not be split
/// into words.
#[derive(Default)]
pub(crate) struct TermStarts {
    /// A bit for each pair of bytes; empty as long as there is no word.
    pairs: Vec<u64>,
    /// Whether a word begins outside of ASCII.
    has_other: bool,
}

impl TermStarts {
    pub(crate) fn add(&mut self, term: &str) {
        self.pairs.resize(1 << 10, 0);
        match *term.as_bytes() {
            [first] => {
                for second in 0..=u8::MAX {
                    self.add_pair(first, second);
                }
            }
            [first, second, ..] if first.is_ascii() => self.add_pair(first, second),
            _ => self.has_other = true,
        }
    }

    fn add_pair(&mut self, first: u8, second: u8) {
        let pair = usize::from(first) << 8 | usize::from(second);
        self.pairs[pair / 64] |= 1 << (pair % 64);
    }

    fn has(&self, first: u8, second: u8) -> bool {
        let pair = usize::from(first.to_ascii_lowercase()) << 8 | usize::from(second.to_ascii_lowercase());
        self.pairs.get(pair / 64).is_some_and(|bits| bits >> (pair % 64) & 1 == 1)
    }

    /// Tells whether a word of the text may be one of these: it begins like one of them.
    fn may_be(&self, term: &str) -> bool {
        match *term.as_bytes() {
            [first] => self.has(first, 0),
            [first, second, ..] if first.is_ascii() => self.has(first, second),
            _ => self.has_other,
        }
    }

    /// Tells whether a piece may have one of these words. A piece with anything outside of ASCII always may.
    pub(crate) fn may_stand_in(&self, piece: &str) -> bool {
        if self.pairs.is_empty() || !piece.is_ascii() {
            return !self.pairs.is_empty();
        }
        let bytes = piece.as_bytes();
        let begins = |at: usize| at == 0 || !bytes[at - 1].is_ascii_alphanumeric();
        let next = |at: usize| bytes.get(at + 1).copied().unwrap_or(0);
        (0..bytes.len()).any(|at| self.has(bytes[at], next(at)) && begins(at))
    }
}

/// Puts an excerpt below a digest; both together take at most `budget` quarter tokens.
///
/// A line that the digest quotes moves down to its place among the pieces; what the digest says about the text stays above. So no
/// line is there twice, and a quoted line has its neighbours around it.
///
/// A piece is a line, or a part of one with at most 160 characters that ends between tokens. They are taken in this order: those
/// that the digest quotes; the start of the text, up to 30 % of the budget that is left; its end, up to 15 %; pieces by the words
/// of the query they have, where half of what a neighbour counts is added; more of the start.
pub fn excerpt_below(
    digest: &str,
    source: &StoredText,
    budget: u64,
    wanted: &ExcerptQuery,
    estimator: &Estimator,
) -> Excerpt {
    let text = source.text;
    let pieces = split(text);
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (index, piece) in pieces.iter().enumerate() {
        places.entry(piece.trim()).or_insert(index);
    }
    let place = |said: &str| {
        let said = said.trim();
        let (begin, end) = (said.strip_suffix(CUT), said.strip_prefix(CUT));
        let part = begin.or(end).unwrap_or(said);
        if part.len() < COMPARED_CHARS {
            return None;
        }
        let of_part = || {
            let is_of = |piece: &&str| match begin {
                Some(begin) => piece.trim_start().starts_with(begin),
                None => end.is_some_and(|end| piece.trim_end().ends_with(end)),
            };
            pieces.iter().position(is_of)
        };
        places.get(part).copied().or_else(of_part)
    };
    let (mut above, mut quoted, mut said) = (String::new(), Vec::new(), Vec::new());
    for line in digest.lines() {
        if let Some(index) = place(line) {
            quoted.push(index);
            continue;
        }
        // Such as `8 similar lines: WARN retry 7`, which stays above with its example.
        said.extend(line.match_indices(": ").find_map(|(at, mark)| place(&line[at + mark.len()..])));
        above.push_str(line);
        above.push('\n');
    }
    if !above.is_empty() {
        above.push_str(TITLE);
    }
    if estimator.quarters(text) + GAP_QUARTERS * pieces.len() as u64 <= budget {
        // All of it fits, and nothing need stand above it.
        (above, quoted, said) = (String::new(), Vec::new(), Vec::new());
    }
    let room = budget.saturating_sub(estimator.quarters(&above));
    let source = PiecedText { source, pieces: &pieces, quoted: &quoted, said: &said };
    let mut found = picked(&source, room, wanted, estimator);
    if found.omitted_chars > 0 {
        found.text.insert_str(0, &above);
    }
    found
}

/// A text as it is stored.
pub struct StoredText<'a> {
    pub text: &'a str,
    /// As it was declared.
    pub media_type: &'a str,
}

/// A text in pieces, and what a digest above it has of them.
struct PiecedText<'a> {
    source: &'a StoredText<'a>,
    pieces: &'a [&'a str],
    /// Pieces that are taken first, as the digest quotes them.
    quoted: &'a [usize],
    /// Pieces that stand above already.
    said: &'a [usize],
}

fn picked(text: &PiecedText, budget: u64, wanted: &ExcerptQuery, estimator: &Estimator) -> Excerpt {
    let PiecedText { source, pieces, quoted, said } = *text;
    let scores = spread(&pieces.iter().map(|piece| piece_score(piece, wanted)).collect::<Vec<_>>());
    let kept = vec![false; pieces.len()];
    let mut picker = PiecePicker { pieces, estimator, kept, said, used: 0, budget, misses: 0 };
    for index in quoted {
        picker.take(*index);
    }
    let budget_left = budget.saturating_sub(picker.used);
    let quoted_quarters = picker.used;
    let head = quoted_quarters + (budget_left as f64 * HEAD_SHARE) as u64;
    for index in 0..pieces.len() {
        if picker.used >= head || !picker.take(index) {
            break;
        }
    }
    let tail = picker.used + (budget_left as f64 * TAIL_SHARE) as u64;
    for index in (0..pieces.len()).rev() {
        if picker.used >= tail || !picker.take(index) {
            break;
        }
    }
    // An empty line counts by its neighbours, but says nothing.
    let is_good = |index: &usize| scores[*index] > 0.0 && !pieces[*index].trim().is_empty();
    let mut order: Vec<usize> = (0..pieces.len()).filter(is_good).collect();
    contextweaver_base::order::sort_by(&mut order, |a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
    for index in order {
        if picker.misses > MAX_MISSES {
            break;
        }
        picker.take(index);
    }
    for index in 0..pieces.len() {
        if picker.used + SLACK >= budget || picker.misses > MAX_MISSES {
            break;
        }
        picker.take(index);
    }
    let kept = picker.kept;
    Excerpt { missing: missing(source, pieces, &kept), ..join(pieces, &kept) }
}

/// Returns a selector that takes as many characters as any that [`Excerpt::missing`] may have for a text, to leave room for it.
pub fn widest_gap(text: &str) -> JsonMap {
    let parts = [("type", "head".into()), ("start", text.len().into()), ("chars", text.len().into())];
    parts.map(|(key, value): (&str, Value)| (key.to_owned(), value)).into_iter().collect()
}

/// Selects what is not kept: of a list of JSON the longest run of rows that are not whole; else the longest stretch, in
/// lines where it consists of whole ones, in characters where it does not.
fn missing(source: &StoredText, pieces: &[&str], kept: &[bool]) -> Option<JsonMap> {
    let gaps = gaps(pieces, kept);
    let longest = gaps.iter().rev().max_by_key(|gap| gap.len())?;
    let selector = missing_rows(source, &gaps, longest).unwrap_or_else(|| selected(source.text, longest));
    selector.as_object().cloned()
}

/// Returns the stretches that are not kept, in bytes.
fn gaps(pieces: &[&str], kept: &[bool]) -> Vec<Range<usize>> {
    let (mut gaps, mut at): (Vec<Range<usize>>, usize) = (Vec::new(), 0);
    for (piece, kept) in pieces.iter().zip(kept) {
        let end = at + piece.len();
        match gaps.last_mut().filter(|gap| gap.end == at) {
            _ if *kept => {}
            Some(gap) => gap.end = end,
            None => gaps.push(at..end),
        }
        at = end;
    }
    gaps
}

/// Selects the longest run of rows of which something is missing, if most of the longest gap is rows, and more than one.
fn missing_rows(source: &StoredText, gaps: &[Range<usize>], longest: &Range<usize>) -> Option<Value> {
    let sniffed = SniffedText::new(source.media_type, source.text);
    let rows: Vec<Range<usize>> = json_rows(sniffed.tree.as_ref().filter(|_| sniffed.shape == Shape::Json)?)?.collect();
    let (first, last) = (rows.first()?, rows.last()?);
    let within = longest.end.min(last.end).saturating_sub(longest.start.max(first.start));
    if 2 * within < longest.len() {
        return None;
    }
    let mut gaps = gaps.iter().peekable();
    let (mut best, mut run) = (0..0, 0..0);
    let bytes = |run: &Range<usize>| if run.is_empty() { 0 } else { rows[run.end - 1].end - rows[run.start].start };
    for (at, row) in rows.iter().enumerate() {
        while gaps.next_if(|gap| gap.end <= row.start).is_some() {}
        if gaps.peek().is_none_or(|gap| gap.start >= row.end) {
            continue;
        }
        run = if run.end == at { run.start..at + 1 } else { at..at + 1 };
        if bytes(&run) > bytes(&best) {
            best = run.clone();
        }
    }
    (best.len() > 1).then(|| json!({ "type": "rows", "start": best.start, "end": best.end }))
}

/// Selects a stretch of a text.
fn selected(text: &str, stretch: &Range<usize>) -> Value {
    let (before, gap) = (&text[..stretch.start], &text[stretch.clone()]);
    let is_whole = (before.is_empty() || before.ends_with('\n')) && (stretch.end == text.len() || gap.ends_with('\n'));
    if is_whole {
        let start = lines(before).count();
        json!({ "type": "lines", "start": start, "end": start + lines(gap).count() })
    } else {
        json!({ "type": "head", "start": before.chars().count(), "chars": gap.chars().count() })
    }
}

struct PiecePicker<'a> {
    pieces: &'a [&'a str],
    estimator: &'a Estimator,
    kept: Vec<bool>,
    /// Pieces that stand above already.
    said: &'a [usize],
    used: u64,
    budget: u64,
    /// Pieces that did not fit.
    misses: usize,
}

impl PiecePicker<'_> {
    /// Keeps a piece, and tells whether it fits. One that is kept already, or stands above, takes nothing.
    fn take(&mut self, index: usize) -> bool {
        if self.kept[index] || self.said.contains(&index) {
            return true;
        }
        let cost = self.estimator.quarters(self.pieces[index]) + GAP_QUARTERS;
        if self.used + cost > self.budget {
            self.misses += 1;
            return false;
        }
        self.kept[index] = true;
        self.used += cost;
        true
    }
}

/// Cuts text into lines (terminator included), and lines into pieces, between tokens.
pub(crate) fn split(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    for line in text.split_inclusive('\n') {
        let mut rest = line;
        while let Some((limit, _)) = rest.char_indices().nth(PIECE_CHARS) {
            let cut = token_boundary(rest, limit);
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
    if !wanted.starts.may_stand_in(piece) {
        return 0.0;
    }
    let mut seen: Vec<u32> = Vec::new();
    let mut score = 0.0;
    for_each_term(piece, |term| {
        if !wanted.starts.may_be(term) {
            return;
        }
        if let Some(id) = wanted.index.term(term)
            && !seen.contains(&id)
        {
            seen.push(id);
            score += wanted.terms.of(id, wanted.visible);
        }
    });
    score
}

/// Adds half of what each neighbour counts.
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
    let mut out = Excerpt { text: String::new(), omitted_chars: 0, missing: None, work: pieces.len() as u64 };
    // Whether the last piece ended a line, and so did the last that was kept.
    let (mut in_gap, mut at_line) = (false, false);
    for (piece, kept) in pieces.iter().zip(kept) {
        if *kept {
            if in_gap {
                out.text.push_str(if at_line { LINES_GAP } else { GAP });
            }
            out.text.push_str(piece);
        } else {
            out.omitted_chars += piece.chars().count() as u64;
        }
        in_gap = !kept;
        at_line = piece.ends_with('\n') && (out.text.is_empty() || out.text.ends_with('\n'));
    }
    if in_gap {
        out.text.push_str(if out.text.ends_with('\n') { LINES_GAP } else { GAP }.trim_end());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn terms(text: &str) -> Vec<String> {
        let mut terms = Vec::new();
        for_each_term(text, |term| terms.push(term.to_owned()));
        terms
    }

    proptest! {
        /// What is passed over holds no term that counts.
        #[test]
        fn no_term_is_overlooked(
            query in r"[A-Za-z0-9 _./:#é本ſK-]{0,24}",
            piece in r#"[A-Za-z0-9 _./:#",é本ſK-]{0,60}"#,
            share in any::<bool>(),
        ) {
            let mut starts = TermStarts::default();
            let counting = terms(&query);
            for term in &counting {
                starts.add(term);
            }
            let piece = if share { format!("{piece} {}s,{piece}", query.to_uppercase()) } else { piece };
            let found: Vec<String> = terms(&piece).into_iter().filter(|term| counting.contains(term)).collect();
            prop_assert!(found.is_empty() || starts.may_stand_in(&piece), "{found:?} in {piece}");
            prop_assert!(found.iter().all(|term| starts.may_be(term)));
        }
    }

    fn below(digest: &str, text: &str, tokens: u64) -> Excerpt {
        let (index, terms) = (LogIndex::new(), TermWeights::default());
        let wanted = ExcerptQuery { index: &index, terms: &terms, visible: 0, starts: TermStarts::default() };
        let source = StoredText { text, media_type: "text/plain" };
        excerpt_below(digest, &source, 4 * tokens, &wanted, &Estimator::V3)
    }

    #[test]
    fn no_line_stands_twice_below_a_digest() {
        let line = |n: usize| match n {
            150 => "ERROR order 4711 failed: card declined\n".to_owned(),
            n if n % 40 == 7 => format!("WARN retry {n} of the printer\n"),
            n => format!("info request {n} served in {} ms\n", n * 7919 % 997),
        };
        let text: String = (0..300).map(line).collect();
        let digest = "300 lines\ninfo request 0 served in 0 ms\n8 similar lines: WARN retry 7 of the printer\nERROR order 4711 \
                      failed: card declined\ninfo request 299 served in 903 ms";
        for tokens in [80, 120, 200, 400, 800] {
            let found = below(digest, &text, tokens);
            assert!(Estimator::V3.tokens(&found.text) <= tokens, "{tokens}");
            let (above, parts) = found.text.split_once("\nExcerpt:\n").unwrap();
            assert_eq!(above, "300 lines\n8 similar lines: WARN retry 7 of the printer");
            assert!(parts.contains("ERROR order 4711 failed: card declined\n"), "{parts}");
            let mut seen = std::collections::HashSet::new();
            for line in text.lines() {
                assert!(found.text.matches(&format!("{line}\n")).count() <= 1 && seen.insert(line), "{tokens}: {line}");
            }
            let missing = Value::Object(found.missing.unwrap());
            let (start, end) = (missing["start"].as_u64().unwrap() as usize, missing["end"].as_u64().unwrap() as usize);
            assert!(missing["type"] == "lines" && end > start);
            for line in text.lines().take(end).skip(start) {
                assert!(!parts.contains(&format!("{line}\n")), "{tokens}: {line} is shown");
            }
        }
        // A cut line of a digest gives way to the line itself.
        let cut = below("300 lines\ninfo request 0 ser…\n…order 4711 failed: card declined", &text, 200).text;
        assert!(cut.starts_with("300 lines\nExcerpt:\ninfo request 0 served in 0 ms\n"), "{cut}");
        assert!(cut.contains(" … \nERROR order 4711 failed: card declined\n"), "{cut}");
        let whole = below(digest, &text, 9000);
        assert!(whole.text == text && whole.missing.is_none() && whole.omitted_chars == 0);
    }

    #[test]
    fn what_is_missing_of_a_text_in_one_line_is_named_by_characters() {
        let words: Vec<String> = (0..400).map(|n| format!("état {n} payé")).collect();
        let text = words.join(", ");
        let found = below("", &text, 200);
        let missing = Value::Object(found.missing.unwrap());
        assert_eq!(missing["type"], "head");
        let (start, chars) = (missing["start"].as_u64().unwrap() as usize, missing["chars"].as_u64().unwrap() as usize);
        let gap: String = text.chars().skip(start).take(chars).collect();
        let begin: String = gap.chars().take(40).collect();
        assert!(gap.chars().count() == chars && !found.text.contains(&begin), "{gap}");
    }

    #[test]
    fn rows_that_are_missing_of_a_list_are_named_as_rows() {
        let row = |n: usize| json!({ "id": n, "état": format!("paid {}", n * 7919 % 997) });
        let rows: Vec<Value> = (0..300).map(row).collect();
        let whole = json!({ "orders": rows, "total": 300 });
        for text in [json!(rows).to_string(), whole.to_string(), serde_json::to_string_pretty(&whole).unwrap()] {
            for tokens in [120, 400, 1_600] {
                let found = below("", &text, tokens);
                let missing = Value::Object(found.missing.unwrap());
                assert_eq!(missing["type"], "rows", "{missing}");
                assert!(missing.to_string().len() <= Value::Object(widest_gap(&text)).to_string().len());
                let (start, end) =
                    (missing["start"].as_u64().unwrap() as usize, missing["end"].as_u64().unwrap() as usize);
                let tree = contextweaver_content::tree::JsonTree::parse(&text).unwrap();
                let places: Vec<Range<usize>> = json_rows(&tree).unwrap().collect();
                let is_shown = |at: &usize| found.text.contains(&text[places[*at].clone()]);
                assert!(!(start..end).any(|at| is_shown(&at)), "{missing} of {}", found.text);
                // Around them are rows that are shown, or none.
                assert!(start == 0 || is_shown(&(start - 1)), "{missing} of {}", found.text);
                assert!(end == 300 || is_shown(&end), "{missing} of {}", found.text);
            }
        }
        // Where a text beside the list is what is missing, characters say more.
        let beside = json!({ "orders": rows[..3], "log": "The order was paid twice. ".repeat(300) }).to_string();
        assert_eq!(below("", &beside, 200).missing.unwrap()["type"], "head");
    }

    #[test]
    fn a_text_without_terms_of_the_query_is_not_taken_apart() {
        let mut starts = TermStarts::default();
        assert!(!starts.may_stand_in("order 7"));
        starts.add("order");
        starts.add("7");
        for (piece, expected) in
            [("an ORDER", true), ("border", false), ("x-orders", true), ("row 7", true), ("row 17", false), ("é", true)]
        {
            assert_eq!(starts.may_stand_in(piece), expected, "{piece}");
        }
    }
}
