//! What a model gets of what was found.

use std::ops::Range;

use super::request::{RecallAnswer, RecalledExcerpt};
use super::rules::RecalledRules;
use super::sources::{Place, ReadText, Texts};
use crate::compile::excerpt::split;
use crate::compile::explain::round4;
use crate::digest_note::safe_handle;
use crate::labels::{SEPARATOR, contained};
use contextweaver_text::tokens::Estimator;

/// What stands at an end of an excerpt that is within a line.
const CUT: char = '…';
/// No more places are tried after this many that did not fit.
const MAX_MISSES: usize = 16;

/// A place is good if its score is at least this share of the best one.
const GOOD: f64 = 0.5;
/// Pieces that are added on either side of good places before others are taken.
const AROUND_GOOD: usize = 2;
/// Stretches with at most this many pieces between them become one. Those pieces cost no more than another line that
/// says where the second stretch is.
const GAP: usize = 2;

/// Pieces of a text that go together.
struct Stretch {
    text: usize,
    pieces: Range<usize>,
    /// Of its best place.
    score: f64,
    quarters: u64,
}

/// What was taken so far.
struct Chosen {
    stretches: Vec<Stretch>,
    used: u64,
    limit: u64,
}

impl Chosen {
    /// Takes a stretch, in place of one that it contains; not without room, and not what is in another already.
    fn put(&mut self, instead: Option<usize>, stretch: Stretch) -> bool {
        let used = self.used - instead.map_or(0, |at| self.stretches[at].quarters) + stretch.quarters;
        let is_taken = |(at, other): (usize, &Stretch)| Some(at) != instead && other.overlaps(&stretch);
        if used > self.limit || self.stretches.iter().enumerate().any(is_taken) {
            return false;
        }
        self.used = used;
        match instead {
            Some(at) => self.stretches[at] = stretch,
            None => self.stretches.push(stretch),
        }
        true
    }
}

impl Chosen {
    /// Makes one of two stretches, in the place of the first.
    fn join(&mut self, first: usize, second: usize, stretch: impl Fn(Range<usize>) -> Stretch) -> bool {
        let (a, b) = (&self.stretches[first], &self.stretches[second]);
        let joined = stretch(a.pieces.start.min(b.pieces.start)..a.pieces.end.max(b.pieces.end));
        let used = self.used - a.quarters - b.quarters + joined.quarters;
        let fits = used <= self.limit;
        if fits {
            self.used = used;
            self.stretches[first] = joined;
            self.stretches.remove(second);
        }
        fits
    }
}

/// A text in pieces, and where each begins: the byte and the character.
struct PiecedText<'a> {
    read: &'a ReadText<'a>,
    pieces: Vec<&'a str>,
    begins: Vec<(usize, usize)>,
}

impl<'a> PiecedText<'a> {
    fn of(read: &'a ReadText<'a>) -> Self {
        let pieces = split(&read.text);
        let mut begins = vec![(0, 0)];
        for piece in &pieces {
            let (bytes, chars) = begins.last().copied().unwrap_or_default();
            begins.push((bytes + piece.len(), chars + piece.chars().count()));
        }
        Self { read, pieces, begins }
    }
}

/// Writes the best places within so many tokens, with as much around them as there is room for.
pub(super) fn answer(found: &Texts, rules: RecalledRules, max_tokens: u64, estimator: &Estimator) -> RecallAnswer {
    let above = if rules.text.is_empty() { 0 } else { estimator.quarters(&rules.text) + estimator.quarters(SEPARATOR) };
    let mut writer = Writer { texts: found.read.iter().map(|_| None).collect(), estimator };
    for Place { text, .. } in &found.places {
        writer.texts[*text].get_or_insert_with(|| PiecedText::of(&found.read[*text]));
    }
    let stretches = writer.choose(&found.places, (4 * max_tokens).saturating_sub(above));
    let excerpts: Vec<RecalledExcerpt> = stretches.iter().filter_map(|stretch| writer.excerpt(stretch)).collect();
    let above = Some(rules.text).filter(|text| !text.is_empty());
    let sections: Vec<String> = above.into_iter().chain(excerpts.iter().map(section)).collect();
    let text = sections.join(SEPARATOR);
    let unread = found.unread.clone();
    RecallAnswer { tokens: estimator.tokens(&text), text, excerpts, rules: rules.rules, unread }
}

struct Writer<'a> {
    /// The texts that hold a place.
    texts: Vec<Option<PiecedText<'a>>>,
    estimator: &'a Estimator,
}

impl Writer<'_> {
    fn pieces(&self, text: usize) -> &[&str] {
        self.texts[text].as_ref().map_or(&[], |text| &text.pieces)
    }

    /// Takes the places that are nearly as good as the best, and what stands around them; then the others, and more around all.
    fn choose(&self, places: &[Place], limit: u64) -> Vec<Stretch> {
        let best = places.first().map_or(0.0, |place| place.score);
        let good = places.iter().take_while(|place| place.score >= GOOD * best).count();
        let mut chosen = Chosen { stretches: Vec::new(), used: 0, limit };
        self.take(&mut chosen, &places[..good]);
        for _ in 0..AROUND_GOOD {
            self.grow(&mut chosen);
        }
        self.take(&mut chosen, &places[good..]);
        while self.grow(&mut chosen) {}
        chosen.stretches
    }

    fn take(&self, chosen: &mut Chosen, places: &[Place]) {
        let mut misses = 0;
        for Place { score, text, piece, grows: [before, after] } in places {
            let own = self.pieces(*text)[*piece].trim();
            if misses > MAX_MISSES || chosen.stretches.iter().any(|stretch| self.says(stretch, own)) {
                continue;
            }
            let wide = *piece - usize::from(*before)..*piece + 1 + usize::from(*after);
            let taken = [wide, *piece..*piece + 1]
                .into_iter()
                .any(|pieces| self.add(chosen, self.stretch(*text, pieces, *score)));
            misses += usize::from(!taken);
        }
    }

    /// Takes pieces if there is room, as part of a stretch that is near.
    fn add(&self, chosen: &mut Chosen, stretch: Stretch) -> bool {
        let Stretch { text, ref pieces, score, .. } = stretch;
        let is_near = |other: &Stretch| {
            other.text == text && pieces.start <= other.pieces.end + GAP && other.pieces.start <= pieces.end + GAP
        };
        let near = chosen.stretches.iter().position(is_near);
        let Some(at) = near else { return chosen.put(None, stretch) };
        let Stretch { pieces: other, score: best, .. } = &chosen.stretches[at];
        let span = pieces.start.min(other.start)..pieces.end.max(other.end);
        let wider = self.stretch(text, span, score.max(*best));
        chosen.put(near, wider)
    }

    /// Adds a piece after and a piece before to each stretch, from the best on; stretches that meet become one. Tells whether
    /// there was room for any.
    fn grow(&self, chosen: &mut Chosen) -> bool {
        let mut grew = false;
        let mut at = 0;
        while at < chosen.stretches.len() {
            for after in [true, false] {
                let Stretch { text, pieces, score, .. } = &chosen.stretches[at];
                let wider = match after {
                    true if pieces.end < self.pieces(*text).len() => pieces.start..pieces.end + 1,
                    false if pieces.start > 0 => pieces.start - 1..pieces.end,
                    _ => continue,
                };
                let wider = self.stretch(*text, wider, *score);
                grew |= match chosen.stretches.iter().rposition(|other| other.overlaps(&wider)) {
                    Some(met) if met > at => chosen.join(at, met, |span| self.stretch(wider.text, span, wider.score)),
                    _ => chosen.put(Some(at), wider),
                };
            }
            at += 1;
        }
        grew
    }

    /// Tells whether a stretch says a piece, which may stand elsewhere, too.
    fn says(&self, stretch: &Stretch, piece: &str) -> bool {
        self.pieces(stretch.text)[stretch.pieces.clone()].iter().any(|own| own.trim() == piece)
    }

    fn stretch(&self, text: usize, pieces: Range<usize>, score: f64) -> Stretch {
        let mut stretch = Stretch { text, pieces, score, quarters: 0 };
        let weight = self.excerpt(&stretch).map_or(0, |excerpt| self.estimator.quarters(&section(&excerpt)));
        stretch.quarters = weight + self.estimator.quarters(SEPARATOR);
        stretch
    }

    fn excerpt(&self, stretch: &Stretch) -> Option<RecalledExcerpt> {
        let PiecedText { read, begins, .. } = self.texts[stretch.text].as_ref()?;
        let ReadText { item, handle, text } = read;
        let [(begin, start), (end, _)] = [begins[stretch.pieces.start], begins[stretch.pieces.end]];
        let (cut, total) = (&text[begin..end], begins.last()?.1);
        let shown = cut.trim_end();
        let mut body = String::new();
        if begin > 0 && !text[..begin].ends_with('\n') {
            body.push(CUT);
        }
        body.push_str(shown);
        if end < text.len() && !cut.ends_with('\n') {
            body.push(CUT);
        }
        Some(RecalledExcerpt {
            item_id: item.map(|item| item.id.clone()),
            kind: item.map(|item| item.kind),
            handle: handle.clone(),
            text: contained(&body).into_owned(),
            start: start as u64,
            end: (start + shown.chars().count()) as u64,
            total: total as u64,
            score: round4(stretch.score),
        })
    }
}

impl Stretch {
    fn overlaps(&self, other: &Self) -> bool {
        self.text == other.text && self.pieces.start < other.pieces.end && other.pieces.start < self.pieces.end
    }
}

/// Writes an excerpt below the line that says where it stands: `[TOOL RESULT [artifact:result:c1 chars 120-480 of 8800]]`.
fn section(excerpt: &RecalledExcerpt) -> String {
    let RecalledExcerpt { item_id, kind, handle, text, start, end, total, .. } = excerpt;
    let label = kind.map_or("DOCUMENT", |kind| kind.label());
    // The handle of a result mostly names its item.
    let id = item_id
        .as_deref()
        .filter(|id| handle.as_deref().and_then(|handle| handle.strip_prefix("artifact:")) != Some(id));
    let named: Vec<String> = id.into_iter().chain(handle.as_deref()).map(safe_handle).collect();
    let span = if *start == 0 && end == total { String::new() } else { format!(" chars {start}-{end} of {total}") };
    format!("[{label} [{}{span}]]\n{text}", named.join(" "))
}
