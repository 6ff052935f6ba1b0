//! Which parts of what a user sends are not the user's words: pasted text, logs, tables, code, letters of others.

use std::ops::Range;

use super::cues::Cues;
use super::lexicon;

/// Bytes of a line that are looked at to tell whether it is data.
const LOOKED_AT: usize = 400;

/// A line of a text.
struct Line<'a> {
    start: usize,
    text: &'a str,
}

/// Returns the stretches of a text that its sender may have written, in order: lines that belong together.
pub fn own_stretches(text: &str) -> Vec<Range<usize>> {
    let mut own: Vec<Range<usize>> = Vec::new();
    let mut state = Reader::default();
    for line in lines(text) {
        if state.is_own(&line) {
            let end = line.start + line.text.len();
            match own.last_mut() {
                Some(last) if state.goes_on => last.end = end,
                _ => own.push(line.start..end),
            }
            state.goes_on = true;
        } else {
            state.goes_on = false;
        }
    }
    own
}

fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut start = 0;
    text.split('\n').map(move |line| {
        let here = Line { start, text: line.trim_end_matches('\r') };
        start += line.len() + 1;
        here
    })
}

/// What the lines so far say of the next one.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each says something else of the lines before")]
struct Reader {
    /// The mark that ends a fence of code.
    fence: Option<&'static str>,
    /// The name of a tag that is open.
    tag: Option<String>,
    /// The last line with text announced what follows.
    announced: bool,
    /// In what was announced: the paragraphs of it so far, the running one included.
    pasted: usize,
    /// Whether a letter runs that has not ended.
    letter: bool,
    /// Whether the line before was empty, and whether it was data.
    after_blank: bool,
    was_data: bool,
    /// Whether the line before was the user's.
    goes_on: bool,
}

impl Reader {
    /// Tells whether a line may be the user's.
    fn is_own(&mut self, line: &Line) -> bool {
        let text = line.text.trim();
        if self.in_fence(text) || self.in_tag(text) {
            return false;
        }
        if text.is_empty() {
            self.after_blank = true;
            return false;
        }
        let opens = std::mem::take(&mut self.after_blank);
        let data = is_data(line.text);
        let was_data = std::mem::replace(&mut self.was_data, data);
        if self.announced {
            self.announced = false;
            self.pasted = 1;
            self.letter = is_salutation(text);
        } else if self.pasted > 0 && opens {
            self.pasted += 1;
        }
        if self.pasted > 0 && !data {
            // Behind a table or a log the user goes on; prose may have many paragraphs.
            let is_over = opens && self.pasted > 1 && !self.letter && was_data;
            if is_over {
                self.pasted = 0;
            } else {
                if opens && is_farewell(text) {
                    self.letter = false;
                }
                return false;
            }
        }
        if data {
            return false;
        }
        self.announced = announces(text);
        true
    }

    fn in_fence(&mut self, text: &str) -> bool {
        let mark = ["```", "~~~", "\"\"\""].into_iter().find(|mark| text.starts_with(mark));
        match (self.fence, mark) {
            (Some(open), Some(found)) if open == found => self.fence = None,
            (None, Some(found)) if !text[found.len()..].contains(found) => self.fence = Some(found),
            (None, _) => return mark.is_some(),
            (Some(_), _) => {}
        }
        self.announced = false;
        true
    }

    fn in_tag(&mut self, text: &str) -> bool {
        if let Some(name) = &self.tag {
            if text.contains(&format!("</{name}>")) {
                self.tag = None;
            }
            return true;
        }
        let Some(rest) = text.strip_prefix('<') else { return false };
        let name: String = rest.chars().take_while(|ch| ch.is_alphanumeric() || matches!(ch, '_' | '-')).collect();
        if name.is_empty() || !text.contains('>') {
            return false;
        }
        if !text.contains(&format!("</{name}>")) && !text.ends_with("/>") {
            self.tag = Some(name);
        }
        true
    }
}

/// Tells whether a line ends with a colon, and so announces what stands below it.
fn announces(text: &str) -> bool {
    text.ends_with([':', '：'])
}

fn is_salutation(text: &str) -> bool {
    let words = lexicon::read(head(text), |_| false);
    words.list.first().is_some_and(|word| word.cues.has(Cues::HELLO))
}

fn is_farewell(text: &str) -> bool {
    let words = lexicon::read(head(text), |_| false);
    words.list.iter().any(|word| word.cues.has(Cues::BYE))
}

fn head(text: &str) -> &str {
    let end = text.char_indices().map(|(at, _)| at).take_while(|at| *at <= LOOKED_AT).last().unwrap_or(0);
    if text.len() <= LOOKED_AT { text } else { &text[..end] }
}

/// Tells whether a line is no prose: of a table, a log, JSON, code, a quotation, a listing.
fn is_data(line: &str) -> bool {
    let text = head(line.trim());
    let opens = |marks: &[&str]| marks.iter().any(|mark| text.starts_with(mark));
    if opens(&[
        ">",
        "|",
        "{",
        "}",
        "]",
        "$ ",
        "@@",
        "+++",
        "---",
        "at ",
        "File \"",
        "Traceback",
        "//",
        "/*",
        "#!",
        "import ",
        "def ",
    ]) {
        return true;
    }
    if line.starts_with("    ")
        || line.starts_with('\t')
        || text.ends_with(['{', '}', ';', '\\']) && !text.contains(". ")
    {
        return text.chars().next().is_none_or(|ch| !matches!(ch, '-' | '*' | '•'));
    }
    if text.matches(" | ").count() > 1 || text.contains('\t') || text.matches("  ").count() > 2 {
        return true;
    }
    let starts_with_time = {
        let begin: String = text.trim_start_matches(['[', '(']).chars().take(10).collect();
        let digits = begin.chars().filter(char::is_ascii_digit).count();
        begin.starts_with(|ch: char| ch.is_ascii_digit())
            && digits >= 3
            && begin.contains([':', '-', '/', '.', ';'])
            && !begin.contains(' ')
            || (digits >= 4 && begin.as_bytes().get(2) == Some(&b':'))
    };
    if starts_with_time {
        return true;
    }
    let (mut letters, mut others) = (0_u32, 0_u32);
    for ch in text.chars().filter(|ch| !ch.is_whitespace()) {
        if ch.is_alphabetic() { letters += 1 } else { others += 1 }
    }
    let separators = text.matches([',', ';']).count();
    others > letters
        || (others * 2 > letters && letters + others > 24)
        || (separators > 3 && !text.contains(", ") && !text.contains("; "))
}
