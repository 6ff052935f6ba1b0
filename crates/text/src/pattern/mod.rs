//! What a search looks for: a text, or a regular expression run without backtracking.
//!
//! A pattern becomes a small program; all its threads walk the text side by side (Thompson's construction), and sets of
//! threads that were met before are not worked out again (a lazy DFA with a bounded table). What is left is text times
//! program at worst, and a step budget refuses that: no pattern can take long. Groups do not capture; repetition is the
//! same greedy or lazy. A match is the one that ends first, and of those the one that begins first. Known signs:
//!
//! ```text
//! .  [a-z]  [^a-z]  \d \w \s \D \W \S  \b \B  ^ $  ( ) |  * + ? {2,5}  \t \n \r \f \v \xff \u00e9 \u{1f600}  \.
//! ```

mod automaton;
mod parse;
mod program;

use self::automaton::{Alphabet, Automaton};
use self::parse::PatternParser;
pub use self::program::Dialect;
use self::program::{CharSet, Node};
use contextweaver_base::limits::{MAX_PATTERN_BYTES, MAX_PATTERN_PROGRAM};
use contextweaver_base::{Error, ErrorCode, Result, StepBudget};

/// Bytes that a search for a literal text looks at in one step.
const LITERAL_BYTES: usize = 8;

/// A text or an expression to search for.
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern(PatternKind);

#[derive(Debug, Clone, PartialEq)]
enum PatternKind {
    Literal(String),
    Expression { tree: Node, sets: Vec<CharSet>, fold: bool, dialect: Dialect },
}

impl Pattern {
    /// Makes a pattern of text that is looked for as it stands, or in whatever case.
    ///
    /// # Errors
    /// `TOO_LARGE` for more than 1,024 bytes.
    ///
    /// ```
    /// use contextweaver_base::{StepBudget, limits};
    /// use contextweaver_text::Pattern;
    ///
    /// let pattern = Pattern::text("oslo", true)?;
    /// let mut budget = StepBudget::new("the search", limits::MAX_SEARCH_STEPS);
    /// assert_eq!(pattern.matcher().find("Rain in OSLO", 0, &mut budget)?, Some((8, 12)));
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn text(source: &str, fold: bool) -> Result<Self> {
        check_length(source)?;
        if !fold {
            return Ok(Self(PatternKind::Literal(source.to_owned())));
        }
        let mut parser = PatternParser::new("", Dialect::Lines, true);
        let tree = parser.literal(source);
        Ok(Self(PatternKind::Expression { tree, sets: parser.sets, fold, dialect: Dialect::Lines }))
    }

    /// Makes a pattern of a regular expression.
    ///
    /// # Errors
    /// `INVALID_INPUT` for what is none of the supported kind, `TOO_LARGE` for one that has more than 1,024 bytes or that
    /// repeats so much that it becomes more than 4,096 instructions.
    ///
    /// ```
    /// use contextweaver_base::{StepBudget, limits};
    /// use contextweaver_text::{Dialect, Pattern};
    ///
    /// let pattern = Pattern::expression(r"^\d{4}-\d{2}$", Dialect::Whole, false)?;
    /// let (mut matcher, mut budget) = (pattern.matcher(), StepBudget::new("the search", limits::MAX_SEARCH_STEPS));
    /// assert!(matcher.is_match("2026-03", &mut budget)?);
    /// assert!(!matcher.is_match("March 2026", &mut budget)?);
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn expression(source: &str, dialect: Dialect, fold: bool) -> Result<Self> {
        check_length(source)?;
        let mut parser = PatternParser::new(source, dialect, fold);
        let Some(tree) = parser.whole() else {
            let message = "the pattern is not a regular expression of the supported kind";
            return Err(Error::new(ErrorCode::InvalidInput, message));
        };
        if tree.size() > MAX_PATTERN_PROGRAM {
            return Err(Error::new(ErrorCode::TooLarge, "the pattern repeats too much"));
        }
        Ok(Self(PatternKind::Expression { tree, sets: parser.sets, fold, dialect }))
    }

    /// Returns what searches for the pattern. It remembers what it learns, so one is to be used for many texts.
    pub fn matcher(&self) -> Matcher<'_> {
        Matcher(match &self.0 {
            PatternKind::Literal(literal) => MatcherKind::Literal(literal),
            PatternKind::Expression { tree, sets, fold, dialect } => {
                let alphabet = Alphabet::new(sets, *fold, *dialect == Dialect::Lines, tree.has_look());
                let forwards = automaton(tree, false);
                MatcherKind::Expression(Box::new(Machine { tree, alphabet, forwards, backwards: None }))
            }
        })
    }
}

fn automaton(tree: &Node, backwards: bool) -> Automaton {
    let mut code = Vec::with_capacity(tree.size());
    tree.emit(backwards, &mut code);
    Automaton::new(code, !backwards)
}

/// Searches for one pattern.
pub struct Matcher<'p>(MatcherKind<'p>);

enum MatcherKind<'p> {
    Literal(&'p str),
    Expression(Box<Machine<'p>>),
}

struct Machine<'p> {
    tree: &'p Node,
    alphabet: Alphabet<'p>,
    /// Finds where a match ends.
    forwards: Automaton,
    /// Finds where a match with a known end begins.
    backwards: Option<Automaton>,
}

impl Matcher<'_> {
    /// Tells whether the pattern matches anywhere in a text.
    ///
    /// # Errors
    /// `TOO_LARGE` when the budget is exceeded.
    ///
    /// ```
    /// use contextweaver_base::{ErrorCode, StepBudget};
    /// use contextweaver_text::{Dialect, Pattern};
    ///
    /// // Of a hundred letters each may or may not begin the last fifty.
    /// let pattern = Pattern::expression("[ab]*a[ab]{50}c", Dialect::Whole, false)?;
    /// let text: String = (0..10_000_u64).map(|n| if n * n % 7 < 3 { 'a' } else { 'b' }).collect();
    /// let mut budget = StepBudget::new("the search", 10_000);
    /// assert_eq!(pattern.matcher().is_match(&text, &mut budget).unwrap_err().code(), ErrorCode::TooLarge);
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn is_match(&mut self, text: &str, budget: &mut StepBudget) -> Result<bool> {
        self.find_end(text, 0, budget).map(|end| end.is_some())
    }

    /// Finds the first match at or after a byte of the text: the one that ends first.
    ///
    /// # Errors
    /// `TOO_LARGE` when the budget is exceeded.
    ///
    /// ```
    /// use contextweaver_base::StepBudget;
    /// use contextweaver_text::{Dialect, Pattern};
    ///
    /// let pattern = Pattern::expression("r[a-z]+n", Dialect::Lines, true)?;
    /// let mut budget = StepBudget::new("the search", 10_000);
    /// assert_eq!(pattern.matcher().find("Snow, then Rain", 0, &mut budget)?, Some((11, 15)));
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn find(&mut self, text: &str, from: usize, budget: &mut StepBudget) -> Result<Option<(usize, usize)>> {
        let Some(end) = self.find_end(text, from, budget)? else { return Ok(None) };
        let machine = match &mut self.0 {
            MatcherKind::Literal(literal) => return Ok(Some((end - literal.len(), end))),
            MatcherKind::Expression(machine) => machine,
        };
        let backwards = machine.backwards.get_or_insert_with(|| automaton(machine.tree, true));
        let chars = text[..end].chars().rev();
        let last = Some(end - from);
        let back = backwards.run(&mut machine.alphabet, chars, (text[end..].chars().next(), last), budget)?;
        Ok(Some((end - back.unwrap_or(0), end)))
    }

    /// Returns the bytes of what the matcher remembers, about.
    pub fn memory(&self) -> usize {
        match &self.0 {
            MatcherKind::Literal(_) => 0,
            MatcherKind::Expression(machine) => {
                let backwards = machine.backwards.as_ref().map_or(0, Automaton::memory);
                machine.alphabet.memory() + machine.forwards.memory() + backwards
            }
        }
    }

    fn find_end(&mut self, text: &str, from: usize, budget: &mut StepBudget) -> Result<Option<usize>> {
        let Some(rest) = text.get(from..) else { return Ok(None) };
        match &mut self.0 {
            MatcherKind::Literal(literal) => {
                let found = rest.find(*literal).map(|at| at + literal.len());
                budget.charge(found.unwrap_or(rest.len()) / LITERAL_BYTES + 1)?;
                Ok(found.map(|end| from + end))
            }
            MatcherKind::Expression(machine) => {
                let before = text[..from].chars().next_back();
                let found = machine.forwards.run(&mut machine.alphabet, rest.chars(), (before, None), budget)?;
                Ok(found.map(|end| from + end))
            }
        }
    }
}

fn check_length(source: &str) -> Result<()> {
    if source.len() <= MAX_PATTERN_BYTES {
        return Ok(());
    }
    Err(Error::new(ErrorCode::TooLarge, format!("a pattern has at most {MAX_PATTERN_BYTES} bytes")))
}

#[cfg(test)]
mod tests {
    use super::*;

    use contextweaver_base::limits::MAX_SEARCH_STEPS;

    fn first(pattern: &Pattern, text: &str) -> Option<(usize, usize)> {
        pattern.matcher().find(text, 0, &mut StepBudget::new("the test", MAX_SEARCH_STEPS)).unwrap()
    }

    fn find(pattern: &str, fold: bool, text: &str) -> Option<(usize, usize)> {
        first(&Pattern::expression(pattern, Dialect::Lines, fold).unwrap(), text)
    }

    /// The steps of a search from the beginning, or nothing where they are too many.
    fn steps(pattern: &str, text: &str) -> Option<u64> {
        let pattern = Pattern::expression(pattern, Dialect::Lines, false).unwrap();
        let mut budget = StepBudget::new("the test", MAX_SEARCH_STEPS);
        pattern.matcher().find(text, 0, &mut budget).ok().map(|_| budget.spent())
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
            let found = first(&Pattern::expression(pattern, Dialect::Whole, false).unwrap(), text);
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
    fn a_search_goes_on_after_a_match() {
        let pattern = Pattern::expression(r"\b\w+$", Dialect::Lines, false).unwrap();
        let (mut matcher, mut budget) = (pattern.matcher(), StepBudget::new("the test", 10_000));
        let text = "an apple\na pear";
        assert_eq!(matcher.find(text, 0, &mut budget).unwrap(), Some((3, 8)));
        // Within a word no word begins, whatever stands before the place where the search begins.
        assert_eq!(matcher.find(text, 4, &mut budget).unwrap(), Some((11, 15)));
        assert_eq!(matcher.find(text, 12, &mut budget).unwrap(), None);
        assert_eq!(matcher.find("é", 1, &mut budget).unwrap(), None);
        let words = Pattern::expression("[a-z]+é", Dialect::Lines, false).unwrap();
        assert_eq!(words.matcher().find("xabcé", 2, &mut budget).unwrap(), Some((2, 6)));
    }

    #[test]
    fn alternatives_are_as_many_as_wanted() {
        let many: Vec<String> = (0..200).map(|n| format!("w{n}")).collect();
        assert_eq!(find(&format!("\\b({})\\b", many.join("|")), false, "w7x w199"), Some((4, 8)));
    }

    /// Repetitions in repetitions once cost some thousand steps for every character.
    #[test]
    fn nested_repetitions_cost_little() {
        let (few, many) = ("a".repeat(100_000), "a".repeat(200_000));
        for pattern in
            ["(?:a{0,30}){0,30}b", r"(?:\w{0,50}){0,30}!", "(a|a)*(a|aa)*b", "(a*)*b", "(?:a?){60}(?:a?){60}b"]
        {
            let (less, more) = (steps(pattern, &few).unwrap(), steps(pattern, &many).unwrap());
            assert!(less < 2_500_000, "{pattern}: {less}");
            assert!(more - less <= 110_000, "{pattern}: {less} {more}");
        }
    }

    #[test]
    fn work_beyond_the_budget_is_refused() {
        // Whether an `a` stood a hundred characters before: every set of threads is new.
        let mut state = 1_u64;
        let letter = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            if state >> 63 == 0 { 'a' } else { 'b' }
        };
        let text: String = (0..1 << 20).map(letter).collect();
        for pattern in ["[ab]*a[ab]{1000}c", "(?:[ab]?){100}a(?:[ab]{0,50}){30}!", "a[ab]{100}c"] {
            assert_eq!(steps(pattern, &text), None, "{pattern}");
            let short = steps(pattern, &text[..20_000]);
            assert!(short.is_none_or(|steps| steps <= MAX_SEARCH_STEPS), "{pattern}");
        }
        assert!(steps("a[ab]{5}c", &text).unwrap() < 2_000_000);
        // Every character is of another class.
        let many: String = (0x4e00..0x5e00_u32).filter_map(char::from_u32).collect();
        let signs: String = (0x4e00..0x4f00_u32).step_by(2).filter_map(char::from_u32).collect();
        assert!(steps(&format!("[{signs}]{{9}}!"), &many.repeat(50)).unwrap() < 20_000_000);
    }
}
