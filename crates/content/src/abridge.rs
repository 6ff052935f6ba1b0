//! A long text in fewer tokens, for a reader who has asked for it and will copy names out of it: its start, its end, and
//! of what lies between the pieces that name the most.

use std::collections::HashSet;

use super::narrow::Room;
use super::reshape::narrowed;
use super::signals::Signal;
use super::sniff::{Shape, SniffedText};
use super::{digest_sniffed, reshape_sniffed};
use contextweaver_text::tokens::Estimator;

/// Longest line that is one piece, in characters: a row of a table says less in parts.
const LINE_CHARS: usize = 400;
/// Longest piece of a longer line, in characters.
const PIECE_CHARS: usize = 160;
/// Share of the room, in percent, that the start of the text gets before anything else, and then the end.
const HEAD_PERCENT: u64 = 20;
const TAIL_PERCENT: u64 = 15;
/// Share of the room, in percent, that the digest of data and logs gets at most.
const DIGEST_PERCENT: u64 = 15;
/// Bytes from which a run counts as a name that nobody asked for: shorter ones are mostly words of a language.
const NAME_BYTES: usize = 6;
/// Bytes from which a run is looked for when it was asked for.
const ASKED_BYTES: usize = 4;
/// Names of a piece that are counted.
const MAX_NAMES: usize = 48;
/// What a piece that has a name of the question counts beside its own names, and one that reports an error.
const ASKED: u64 = 2;
const ERROR: u64 = 1;
/// Marks what was left out, on a line of its own.
const GAP: &str = "…\n";
/// Classes of pieces by worth: eight to a doubling.
const CLASSES: usize = 128;

/// A text in fewer tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Abridgment {
    /// The text.
    pub text: String,
    /// Whether it says all that the source does, in its own spelling or in a shorter one.
    pub is_whole: bool,
}

/// Writes a text into at most `budget_tokens` tokens; one that fits is returned as it is.
///
/// JSON is taken in its shorter spelling where it has one, its tables without the columns that nobody reads where their rows
/// do not fit otherwise, and data and logs begin with a digest. Then the start of the
/// text is kept, its end, and the pieces that add the most names for their tokens: identifiers, paths, numbers that
/// nothing kept so far has. Names of `asked`, the arguments of a call for example, and reports of errors count more. Where
/// nothing is left that names more, the start goes on, without lines that were there before. A line of `…` stands for each
/// gap.
///
/// ```
/// use contextweaver_content::{SniffedText, abridge};
/// use contextweaver_text::tokens::Estimator;
///
/// let filler = "    return value  # as before\n".repeat(300);
/// let source = format!("import os\n{filler}class RefundPolicy(BasePolicy):\n{filler}main()\n");
/// let short = abridge(&SniffedText::new("text/plain", &source), 200, "", &Estimator::V3);
/// assert!(short.text.starts_with("import os\n") && short.text.ends_with("main()\n"));
/// assert!(short.text.contains("class RefundPolicy(BasePolicy):\n"));
/// assert!(Estimator::V3.tokens(&short.text) <= 200);
/// ```
pub fn abridge(source: &SniffedText, budget_tokens: u64, asked: &str, estimator: &Estimator) -> Abridgment {
    if estimator.fits(source.text, budget_tokens) {
        return Abridgment { text: source.text.to_owned(), is_whole: true };
    }
    let reshaped = reshape_sniffed(source).map(|reshaped| reshaped.text);
    let text = reshaped.as_deref().unwrap_or(source.text);
    if estimator.fits(text, budget_tokens) {
        return Abridgment { text: text.to_owned(), is_whole: true };
    }
    let mut out = String::new();
    if matches!(source.shape, Shape::Json | Shape::Ndjson | Shape::Table(_) | Shape::Log) {
        out = digest_sniffed(source, budget_tokens * DIGEST_PERCENT / 100, estimator).text;
        if !out.is_empty() {
            out.push('\n');
        }
    }
    let left = (4 * budget_tokens).saturating_sub(estimator.quarters(&out));
    let asked: HashSet<String> = names(asked, ASKED_BYTES).map(str::to_lowercase).collect();
    let narrowed = narrowed(source, Room { quarters: left, asked: &asked, estimator });
    let pieces = split(narrowed.as_deref().unwrap_or(text));
    let mut picker = NamePicker::new(&pieces, left, asked, estimator);
    picker.ends();
    picker.between();
    picker.rest();
    picker.write(&mut out);
    Abridgment { text: out, is_whole: false }
}

/// Chooses pieces of a text.
struct NamePicker<'a> {
    pieces: &'a [&'a str],
    estimator: &'a Estimator,
    asked: HashSet<String>,
    kept: Vec<bool>,
    seen: HashSet<&'a str>,
    /// Quarter tokens that are left.
    room: u64,
    gap: u64,
    /// Pieces that were weighed, each as often as that was done.
    work: usize,
}

impl<'a> NamePicker<'a> {
    fn new(pieces: &'a [&'a str], room: u64, asked: HashSet<String>, estimator: &'a Estimator) -> Self {
        // With the end of the line that was cut before it. The first is paid for at once.
        let gap = estimator.quarters(GAP) + 1;
        Self {
            pieces,
            estimator,
            asked,
            kept: vec![false; pieces.len()],
            seen: HashSet::new(),
            room: room.saturating_sub(gap),
            gap,
            work: 0,
        }
    }

    /// Quarter tokens that a piece adds, with the mark of the gap that it opens, without that of one that it closes.
    fn cost(&self, at: usize) -> u64 {
        let is_open = |beside: Option<usize>| beside.and_then(|at| self.kept.get(at)).is_some_and(|kept| !kept);
        let own = self.estimator.quarters(self.pieces[at]);
        match (is_open(at.checked_sub(1)), is_open(Some(at + 1))) {
            (true, true) => own + self.gap,
            (false, false) => own.saturating_sub(self.gap),
            _ => own,
        }
    }

    /// Keeps a piece if there is room for it.
    fn take(&mut self, at: usize) -> bool {
        let cost = self.cost(at);
        if self.kept[at] || cost > self.room {
            return false;
        }
        self.kept[at] = true;
        self.room -= cost;
        self.seen.extend(names(self.pieces[at], NAME_BYTES));
        true
    }

    fn ends(&mut self) {
        let (room, count) = (self.room, self.pieces.len());
        let until = room - room * HEAD_PERCENT / 100;
        for at in 0..count {
            if self.room <= until || !self.take(at) {
                break;
            }
        }
        let until = self.room.saturating_sub(room * TAIL_PERCENT / 100);
        for at in (0..count).rev() {
            if self.room <= until || !self.take(at) {
                break;
            }
        }
    }

    /// The class of a piece by what it adds for its tokens; none where it adds nothing.
    fn class(&mut self, at: usize) -> Option<usize> {
        self.work += 1;
        let piece = self.pieces[at];
        let mut own: Vec<&str> = Vec::new();
        let (mut worth, mut is_asked) = (0, false);
        for name in names(piece, ASKED_BYTES).take(MAX_NAMES) {
            if own.contains(&name) {
                continue;
            }
            own.push(name);
            worth += u64::from(name.len() >= NAME_BYTES && !self.seen.contains(name));
            is_asked |= !self.asked.is_empty() && self.asked.contains(&name.to_lowercase());
        }
        worth += if is_asked { ASKED } else { 0 };
        worth += if Signal::of(piece).error { ERROR } else { 0 };
        if worth == 0 {
            return None;
        }
        let share = worth as f64 / self.cost(at).max(1) as f64;
        // From a name in 1,024 quarter tokens on, which is less than any piece of this length comes to.
        Some(((libm::log2(share) + 10.0) * 8.0).clamp(0.0, (CLASSES - 1) as f64) as usize)
    }

    /// Takes the pieces of most worth first. What is taken makes others worth less, so that a piece moves down a class each
    /// time it is found to be, and is looked at once a class at most.
    fn between(&mut self) {
        let mut classes: Vec<Vec<usize>> = vec![Vec::new(); CLASSES];
        for at in 0..self.pieces.len() {
            if !self.kept[at]
                && let Some(class) = self.class(at)
            {
                classes[class].push(at);
            }
        }
        for class in (0..CLASSES).rev() {
            for at in std::mem::take(&mut classes[class]) {
                if self.room <= self.gap {
                    return;
                }
                match self.class(at) {
                    Some(now) if now >= class => {
                        self.take(at);
                    }
                    Some(now) => classes[now].push(at),
                    None => {}
                }
            }
        }
    }

    /// Goes on from the start with what names nothing new, such as numbers in order, but says something else.
    fn rest(&mut self) {
        let kept = self.pieces.iter().zip(&self.kept).filter_map(|(piece, kept)| kept.then_some(*piece));
        let mut told: HashSet<&str> = kept.collect();
        for at in 0..self.pieces.len() {
            if !self.kept[at] && told.insert(self.pieces[at]) && !self.take(at) {
                break;
            }
        }
    }

    fn write(&self, out: &mut String) {
        let mut is_gap = false;
        for (piece, kept) in self.pieces.iter().zip(&self.kept) {
            if *kept {
                if is_gap {
                    if !out.is_empty() && !out.ends_with('\n') {
                        out.push('\n');
                    }
                    out.push_str(GAP);
                }
                out.push_str(piece);
            }
            is_gap = !kept;
        }
        if is_gap {
            if !out.is_empty() && !out.ends_with('\n') {
                out.push('\n');
            }
            out.push_str(GAP.trim_end());
        }
    }
}

/// The names in a text: runs of letters, digits and what joins them in identifiers, paths and numbers, of so many bytes.
fn names(text: &str, least: usize) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '_' | '.' | '/' | '-')))
        .filter(move |run| run.len() >= least)
}

/// Cuts a text into lines, and lines beyond [`LINE_CHARS`] at white space or a comma.
fn split(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    for line in text.split_inclusive('\n') {
        let mut rest = line;
        if line.char_indices().nth(LINE_CHARS).is_none() {
            pieces.push(line);
            continue;
        }
        while let Some((limit, _)) = rest.char_indices().nth(PIECE_CHARS) {
            let window = &rest[..limit];
            let last = window.char_indices().rev().find(|(_, letter)| letter.is_whitespace() || *letter == ',');
            let cut = last.map_or(limit, |(at, letter)| at + letter.len_utf8());
            pieces.push(&rest[..cut]);
            rest = &rest[cut..];
        }
        if !rest.is_empty() {
            pieces.push(rest);
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn short(media_type: &str, text: &str, tokens: u64, asked: &str) -> String {
        abridge(&SniffedText::new(media_type, text), tokens, asked, &Estimator::V3).text
    }

    proptest! {
        /// It fits, and every line but the marks stands in the text.
        #[test]
        fn it_fits_and_quotes(lines in proptest::collection::vec("[a-z_./é漢 ,]{0,220}", 0..80), tokens in 0..400_u64, asked in "[a-z ]{0,20}") {
            let text = lines.join("\n");
            let source = SniffedText::of_shape(&text, Shape::Text);
            let made = abridge(&source, tokens, &asked, &Estimator::V3).text;
            prop_assert!(Estimator::V3.tokens(&made) <= tokens, "{} of {tokens}", Estimator::V3.tokens(&made));
            let whole = reshape_sniffed(&source).map_or(text.clone(), |reshaped| reshaped.text);
            for line in made.lines().filter(|line| *line != GAP.trim_end()) {
                prop_assert!(text.contains(line) || whole.contains(line), "{line}");
            }
        }
    }

    #[test]
    fn a_name_that_is_asked_for_and_an_error_go_first() {
        let lines = (0..900).map(|n| format!("value_{n:04} of the {} list\n", n % 7)).collect::<Vec<_>>().concat();
        assert!(!short("text/plain", &lines, 150, "").contains("value_0611"));
        assert!(short("text/plain", &lines, 150, r#"{"name":"VALUE_0611"}"#).contains("value_0611"));
        let broken = lines.replace("value_0611 of the", "value_0611 failed: disk full");
        assert!(short("text/plain", &broken, 150, "").contains("value_0611 failed: disk full"));
    }

    #[test]
    fn what_is_left_goes_to_the_start() {
        // Numbers are no names: nothing between the ends names more.
        let lines = (0..900).map(|n| format!("- row {n}: done\n")).collect::<Vec<_>>().concat();
        let made = short("text/plain", &lines, 400, "");
        let tokens = Estimator::V3.tokens(&made);
        assert!((380..=400).contains(&tokens), "{tokens}: {made}");
        assert!(made.starts_with("- row 0: done\n- row 1: done\n") && made.matches(GAP).count() == 1, "{made}");
        // Lines that repeat tell nothing more.
        let same = format!("start\n{}end\n", "- row: done\n".repeat(900));
        assert!(short("text/plain", &same, 400, "").matches("done").count() < 60);
    }

    #[test]
    fn data_begins_with_its_digest() {
        let rows = (0..900)
            .map(|n| format!("{n},customer{},{}\n", n % 90, if n == 700 { "held" } else { "sent" }))
            .collect::<Vec<_>>()
            .concat();
        let made = short("text/csv", &format!("id,customer,state\n{rows}"), 300, "");
        assert!(made.starts_with("900 rows, 3 columns") && made.contains("700,customer70,held"), "{made}");
    }

    #[test]
    fn a_row_is_shown_whole_or_not_at_all() {
        let commit = |n: u64| {
            let hash = |n: u64| {
                format!("{:032x}{n:08x}", u128::from(n + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835))
            };
            let subject = format!("Adjust the reading of station {n}, which was {} metres off its place", n * 37);
            format!(
                r#"{{"hash":"{}","author":"A","email":"a@example.com","subject":"{subject}","parents":["{}"]}}"#,
                hash(n),
                hash(n + 1)
            )
        };
        let log = format!("[{}]", (0..60).map(commit).collect::<Vec<_>>().join(","));
        let made = short("application/json", &log, 1_000, "");
        let rows: Vec<&str> = made.lines().filter(|line| line.contains(",\"Adjust")).collect();
        assert!(
            rows.len() >= 10 && rows.iter().all(|row| row.split(',').next().unwrap_or_default().len() == 40),
            "{made}"
        );
        assert!(!made.lines().any(|line| line.starts_with("[\"")), "{made}");
    }

    #[test]
    fn work_is_linear_in_the_text() {
        // Pieces that lose their worth by what is taken before them, and pieces that are many.
        let chained = (0..40_000)
            .map(|n| format!("name{n} name{} name{} name{}\n", n + 1, n + 2, n + 3))
            .collect::<Vec<_>>()
            .concat();
        for text in [
            "a_name b_name c_name\n".repeat(40_000),
            chained,
            "x".repeat(1_000_000),
            "alpha,beta,gamma,".repeat(60_000),
        ] {
            let pieces = split(&text);
            let mut picker = NamePicker::new(&pieces, 16_000, HashSet::from(["alpha".to_owned()]), &Estimator::V3);
            picker.ends();
            picker.between();
            assert!(picker.work <= 8 * pieces.len(), "{} of {} pieces", picker.work, pieces.len());
        }
    }
}
