//! What a search looks for: a text, or a regular expression run without backtracking.
//!
//! A pattern becomes a small program; all its threads walk the text side by side (Thompson's construction), so the time
//! is text times program and no pattern can make it explode. Groups do not capture; repetition is the same greedy or
//! lazy. Known signs:
//!
//! ```text
//! .  [a-z]  [^a-z]  \d \w \s \D \W \S  \b \B  ^ $  ( ) |  * + ? {2,5}  \t \n \r \f \v \xff \u00e9 \u{1f600}  \.
//! ```

mod parse;

use self::parse::PatternParser;
use contextweaver_base::{Error, ErrorCode, Result};

/// Bytes of a pattern, instructions it may become, and steps of one search.
const MAX_BYTES: usize = 1024;
const MAX_PROGRAM: usize = 4096;
const MAX_STEPS: usize = 1 << 30;

/// How the signs of an expression are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// `^` and `$` are the ends of a line, `\w` are the letters of every script; for searching a text.
    Lines,
    /// `^` and `$` are the ends of the text, `\w` are ASCII letters, as in JavaScript; for JSON Schema.
    Whole,
}

/// A text or an expression to search for.
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern(PatternKind);

#[derive(Debug, Clone, PartialEq)]
enum PatternKind {
    Literal(String),
    Program { code: Vec<Op>, fold: bool, dialect: Dialect },
}

/// One instruction; jumps are relative to its own place.
#[derive(Debug, Clone, PartialEq)]
enum Op {
    Set { ranges: Vec<(char, char)>, negated: bool },
    Split(isize, isize),
    Jump(isize),
    Start,
    End,
    Border(bool),
}

impl Pattern {
    /// Makes a pattern of text that is looked for as it stands, or in whatever case.
    ///
    /// # Errors
    /// `TOO_LARGE` for more than 1,024 bytes.
    ///
    /// ```
    /// use contextweaver_text::Pattern;
    ///
    /// let pattern = Pattern::text("oslo", true)?;
    /// assert_eq!(pattern.find("Rain in OSLO", 0), Some((8, 12)));
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn text(source: &str, fold: bool) -> Result<Self> {
        check_length(source)?;
        if !fold {
            return Ok(Self(PatternKind::Literal(source.to_owned())));
        }
        let parser = PatternParser::new("", Dialect::Lines, true);
        Self::program(Some(source.chars().map(|ch| parser.one(ch)).collect()), Dialect::Lines, true)
    }

    /// Makes a pattern of a regular expression.
    ///
    /// # Errors
    /// `INVALID_INPUT` for what is none of the supported kind, `TOO_LARGE` for one that is too long or repeats too much.
    ///
    /// ```
    /// use contextweaver_text::{Dialect, Pattern};
    ///
    /// let pattern = Pattern::expression(r"^\d{4}-\d{2}$", Dialect::Whole, false)?;
    /// assert_eq!(pattern.find("2026-03", 0), Some((0, 7)));
    /// assert_eq!(pattern.find("March 2026", 0), None);
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn expression(source: &str, dialect: Dialect, fold: bool) -> Result<Self> {
        check_length(source)?;
        Self::program(PatternParser::new(source, dialect, fold).whole(), dialect, fold)
    }

    fn program(code: Option<Vec<Op>>, dialect: Dialect, fold: bool) -> Result<Self> {
        match code {
            Some(code) if code.len() <= MAX_PROGRAM => Ok(Self(PatternKind::Program { code, fold, dialect })),
            Some(_) => Err(Error::new(ErrorCode::TooLarge, "the pattern repeats too much")),
            None => {
                let message = "the pattern is not a regular expression of the supported kind";
                Err(Error::new(ErrorCode::InvalidInput, message))
            }
        }
    }

    /// Returns how many steps a search in so many bytes may take.
    pub fn steps(&self, bytes: usize) -> usize {
        match &self.0 {
            PatternKind::Literal(_) => bytes,
            PatternKind::Program { code, .. } => bytes.saturating_mul(code.len()),
        }
    }

    /// Refuses a search that would take too many steps.
    ///
    /// # Errors
    /// `TOO_LARGE` for more than 2^30 steps.
    pub fn check(&self, bytes: usize) -> Result<()> {
        if self.steps(bytes) <= MAX_STEPS {
            return Ok(());
        }
        Err(Error::new(ErrorCode::TooLarge, "the pattern is too long for a text of this size")
            .hint("search for a shorter or literal text"))
    }

    /// Finds the first match at or after a byte of the text; linear in the text.
    pub fn find(&self, text: &str, from: usize) -> Option<(usize, usize)> {
        match &self.0 {
            PatternKind::Literal(literal) => {
                let at = from + text.get(from..)?.find(literal.as_str())?;
                Some((at, at + literal.len()))
            }
            PatternKind::Program { code, fold, dialect } => Machine::new(code, *fold, *dialect).find(text, from),
        }
    }
}

/// The simple lower case: one character for one.
fn lower(ch: char) -> char {
    let mut all = ch.to_lowercase();
    match (all.next(), all.next()) {
        (Some(one), None) => one,
        _ => ch,
    }
}

fn check_length(source: &str) -> Result<()> {
    if source.len() <= MAX_BYTES {
        return Ok(());
    }
    Err(Error::new(ErrorCode::TooLarge, format!("a pattern has at most {MAX_BYTES} bytes")))
}

struct Machine<'p> {
    code: &'p [Op],
    fold: bool,
    dialect: Dialect,
    /// For every instruction, the last position at which a thread was there.
    seen: Vec<usize>,
    stack: Vec<usize>,
}

/// Threads as places in the program, with where each began.
type Threads = Vec<(usize, usize)>;

impl<'p> Machine<'p> {
    fn new(code: &'p [Op], fold: bool, dialect: Dialect) -> Self {
        Self { code, fold, dialect, seen: vec![usize::MAX; code.len() + 1], stack: Vec::new() }
    }

    fn find(&mut self, text: &str, from: usize) -> Option<(usize, usize)> {
        let mut threads: Threads = Vec::new();
        let mut next: Threads = Vec::new();
        let mut before = text[..from].chars().next_back();
        let mut chars = text.get(from..)?.char_indices();
        // Threads wait at the characters they want; those of an earlier beginning come first.
        loop {
            let (at, ch) = chars.next().map_or((text.len(), None), |(at, ch)| (from + at, Some(ch)));
            for (place, start) in std::mem::take(&mut next) {
                if self.follow(place, start, at, before, ch, &mut threads) {
                    return Some((start, at));
                }
            }
            if self.follow(0, at, at, before, ch, &mut threads) {
                return Some((at, at));
            }
            let wanted = ch?;
            let folded = if self.fold { lower(wanted) } else { wanted };
            for (place, start) in threads.drain(..) {
                if let Op::Set { ranges, negated } = &self.code[place] {
                    let inside = |ch: char| ranges.iter().any(|(low, high)| (*low..=*high).contains(&ch));
                    if (inside(folded) || inside(wanted)) != *negated {
                        next.push((place + 1, start));
                    }
                }
            }
            before = ch;
        }
    }

    /// Follows jumps from a place until characters are wanted; tells whether the end of the program was reached.
    fn follow(
        &mut self,
        place: usize,
        start: usize,
        at: usize,
        before: Option<char>,
        after: Option<char>,
        threads: &mut Threads,
    ) -> bool {
        let lines = self.dialect == Dialect::Lines;
        let is_word = |ch: char| ch == '_' || if lines { ch.is_alphanumeric() } else { ch.is_ascii_alphanumeric() };
        let is_edge = |ch: Option<char>| ch.is_none_or(|ch| lines && ch == '\n');
        self.stack.push(place);
        while let Some(place) = self.stack.pop() {
            if std::mem::replace(&mut self.seen[place], at) == at {
                continue;
            }
            let to = |by: isize| place.wrapping_add_signed(by);
            match self.code.get(place) {
                None => {
                    self.stack.clear();
                    return true;
                }
                Some(Op::Set { .. }) => threads.push((place, start)),
                Some(Op::Jump(by)) => self.stack.push(to(*by)),
                Some(Op::Split(first, second)) => self.stack.extend([to(*second), to(*first)]),
                Some(Op::Start) if is_edge(before) => self.stack.push(place + 1),
                Some(Op::End) if is_edge(after) => self.stack.push(place + 1),
                Some(Op::Border(wanted)) if (before.is_some_and(is_word) != after.is_some_and(is_word)) == *wanted => {
                    self.stack.push(place + 1);
                }
                Some(_) => {}
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(pattern: &str, fold: bool, text: &str) -> Option<(usize, usize)> {
        Pattern::expression(pattern, Dialect::Lines, fold).unwrap().find(text, 0)
    }

    #[test]
    fn expressions_match() {
        let cases = [
            ("b+", "abbc", Some((1, 2))),
            ("ab*c", "xabbc", Some((1, 5))),
            ("a(b|cd)?e", "ace acde", Some((4, 8))),
            ("^a.c$", "abc", Some((0, 3))),
            ("^b", "ab", None),
            ("E\\d{4}\\b", "E41900 E4190", Some((7, 12))),
            ("[^a-c]+x", "abcdx", Some((3, 5))),
            ("[]a]", "]", Some((0, 1))),
            ("\\[x\\]", "[x]", Some((0, 3))),
            ("é.", "aéö", Some((1, 5))),
            ("a{2,3}$", "aaaa", Some((1, 4))),
            ("(a|b|c)*d", "abcabd", Some((0, 6))),
            ("x*", "y", Some((0, 0))),
            ("(a*)*b", "aaac", None),
            ("\\bcat\\b", "concat cat", Some((7, 10))),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(find(pattern, false, text), expected, "{pattern} {text}");
        }
        assert_eq!(find("STRASSE|ÄB", true, "aäB"), Some((1, 4)));
        assert_eq!(find("[A-C]x", true, "bX"), Some((0, 2)));
    }

    #[test]
    fn whole_texts_match_as_in_javascript() {
        let cases = [
            ("^[a-z]+$", "a\nb", false),
            ("^\\w+$", "é", false),
            ("^[\\s\\S]*$", "a\n\u{2028}\u{10ffff}", true),
            ("^[^\\d\\s]+$", "a\u{d7ff}\u{e000}", true),
            ("^\\D$", "5", false),
            ("^[\\w.+-]+@[\\w-]+\\.[A-Za-z]{2,}$", "a.b+c@d-e.com", true),
            ("^[!-\\/]$", ".", true),
            ("^[!-\\/]$", "0", false),
            ("^\\u00e9\\x41\\u{1F600}\\ud83d\\ude00\\/$", "éA😀😀/", true),
            ("^.$", "\u{2028}", false),
            ("^\\d{4}-\\d{2}-\\d{2}$", "2026-07-28", true),
            ("", "x", true),
        ];
        for (pattern, text, expected) in cases {
            let found = Pattern::expression(pattern, Dialect::Whole, false).unwrap().find(text, 0);
            assert_eq!(found.is_some(), expected, "{pattern} {text}");
        }
        for bad in ["[]", "[^]a", "x{2}{3}", "{", "a{,3}", "(?=a)", "(?<n>a)", "\\1", "\\p{L}"] {
            assert!(Pattern::expression(bad, Dialect::Whole, false).is_err(), "{bad}");
        }
    }

    #[test]
    fn bad_and_huge_patterns_are_refused() {
        let code = |pattern: &str| Pattern::expression(pattern, Dialect::Lines, false).unwrap_err().code();
        let deep = "(".repeat(400);
        for bad in [
            "[b-a]",
            "\\u12",
            "\\u{110000}",
            "\\u{+1}",
            "[\\b]",
            "a{18446744073709551616}",
            "(",
            ")",
            "*a",
            "a{",
            "a{x}",
            "[",
            "[a",
            "\\",
            "\\q",
            "(?=a)",
            &deep,
        ] {
            assert_eq!(code(bad), ErrorCode::InvalidInput, "{bad}");
        }
        for huge in ["a{9999}", "((a{60}){60}){60}", "a{18446744073709551615,}", &"a".repeat(1025)] {
            assert_eq!(code(huge), ErrorCode::TooLarge, "{huge}");
        }
    }

    #[test]
    fn no_pattern_explodes() {
        let text = "a".repeat(20_000);
        assert_eq!(find("(a|a)*(a|aa)*b", false, &text), None);
    }
}
