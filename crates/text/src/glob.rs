//! Names with wildcards: `*`, `?`, `[seq]`, `[!seq]`.

use contextweaver_base::{Error, ErrorCode, Result, limits};

/// A name with wildcards, compared with whole names, upper and lower case apart.
///
/// `*` stands for any text, `?` for one character, `[a-z_]` for one of these, `[!a-z]` for one of the others. A `[`
/// without its `]` stands for itself, and so does a `]` that comes first. Nothing is escaped: `[*]` is the asterisk.
///
/// Matching takes time in proportion to the name, whoever wrote it, times the length of the pattern.
///
/// ```
/// use contextweaver_text::glob::Glob;
///
/// let glob = Glob::new("github:issues.*");
/// assert!(glob.matches("github:issues.create"));
/// assert!(!glob.matches("GitHub:issues.create"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    text: String,
    /// The pieces between the asterisks; there is one more of them than asterisks.
    runs: Vec<Vec<OneChar>>,
}

/// What one character of a name has to be.
#[derive(Debug, Clone, PartialEq, Eq)]
enum OneChar {
    Any,
    Same(char),
    /// One of these ranges, or none of them.
    Of {
        ranges: Vec<(char, char)>,
        negated: bool,
    },
}

impl OneChar {
    fn fits(&self, ch: char) -> bool {
        match self {
            Self::Any => true,
            Self::Same(own) => *own == ch,
            Self::Of { ranges, negated } => ranges.iter().any(|(from, to)| (*from..=*to).contains(&ch)) != *negated,
        }
    }
}

impl Glob {
    /// Makes a glob; every text is one.
    pub fn new(text: &str) -> Self {
        let chars: Vec<char> = text.chars().collect();
        let mut runs = vec![Vec::new()];
        let mut at = 0;
        while let Some(ch) = chars.get(at) {
            at += 1;
            let one = match ch {
                '*' => {
                    runs.push(Vec::new());
                    continue;
                }
                '?' => OneChar::Any,
                '[' => match set(&chars[at..]) {
                    Some((one, length)) => {
                        at += length;
                        one
                    }
                    None => OneChar::Same('['),
                },
                other => OneChar::Same(*other),
            };
            if let Some(run) = runs.last_mut() {
                run.push(one);
            }
        }
        Self { text: text.to_owned(), runs }
    }

    /// Makes a glob of what an operator wrote.
    ///
    /// # Errors
    /// `INVALID_INPUT` for an empty text, which no name is; `TOO_LARGE` beyond 1,024 bytes.
    pub fn read(text: &str, path: &str) -> Result<Self> {
        if text.is_empty() {
            let error = Error::new(ErrorCode::InvalidInput, "an empty pattern matches no name").at(path);
            return Err(error.hint("leave the field out, or write `*`"));
        }
        if text.len() > limits::MAX_PATTERN_BYTES {
            let message = format!("the pattern has {} bytes, the limit is {}", text.len(), limits::MAX_PATTERN_BYTES);
            return Err(Error::new(ErrorCode::TooLarge, message).at(path));
        }
        Ok(Self::new(text))
    }

    /// Makes globs of a list that an operator wrote.
    ///
    /// # Errors
    /// Those of [`Self::read`], at the place in the list.
    pub fn read_all(texts: &[String], path: &str) -> Result<Vec<Self>> {
        texts.iter().enumerate().map(|(index, text)| Self::read(text, &format!("{path}/{index}"))).collect()
    }

    /// Returns the glob as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Tells whether a whole name matches.
    pub fn matches(&self, name: &str) -> bool {
        // Each run is put where it fits first: what is between two asterisks need not be farther on.
        let (Some((first, rest)), mut left) = (self.runs.split_first(), name) else { return false };
        let Some(after) = after_run(first, left) else { return false };
        left = after;
        let Some((last, middle)) = rest.split_last() else { return left.is_empty() };
        for run in middle {
            let Some(after) = find_run(run, left) else { return false };
            left = after;
        }
        ends_with_run(last, left)
    }
}

/// Returns what follows a run at the start of a text.
fn after_run<'t>(run: &[OneChar], text: &'t str) -> Option<&'t str> {
    let mut chars = text.chars();
    run.iter().all(|one| chars.next().is_some_and(|ch| one.fits(ch))).then_some(chars.as_str())
}

/// Returns what follows the first place where a run fits.
fn find_run<'t>(run: &[OneChar], mut text: &'t str) -> Option<&'t str> {
    loop {
        if let Some(after) = after_run(run, text) {
            return Some(after);
        }
        let mut chars = text.chars();
        chars.next()?;
        text = chars.as_str();
    }
}

fn ends_with_run(run: &[OneChar], text: &str) -> bool {
    let mut chars = text.chars();
    run.iter().rev().all(|one| chars.next_back().is_some_and(|ch| one.fits(ch)))
}

/// Reads the set after a `[`, and says how many characters it has with its `]`.
fn set(chars: &[char]) -> Option<(OneChar, usize)> {
    let negated = chars.first() == Some(&'!');
    let start = usize::from(negated);
    // A `]` that comes first belongs to the set.
    let end = start + 1 + chars.get(start + 1..)?.iter().position(|ch| *ch == ']')?;
    let members = &chars[start..end];
    let (mut ranges, mut at) = (Vec::new(), 0);
    while let Some(from) = members.get(at) {
        let to = (members.get(at + 1) == Some(&'-')).then(|| members.get(at + 2)).flatten();
        // A range that is the wrong way round has no members.
        ranges.push((*from, *to.unwrap_or(from)));
        at += if to.is_some() { 3 } else { 1 };
    }
    Some((OneChar::Of { ranges, negated }, end + 1))
}

// The properties need a crate that does not exist on WebAssembly.
#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use contextweaver_base::{ErrorCode, limits};
    use contextweaver_test_support::property;
    use proptest::prelude::*;

    use super::Glob;

    #[test]
    fn wildcards_stand_for_what_they_say() {
        for (glob, name, wanted) in [
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("**", "abc", true),
            ("a*c", "abbc", true),
            ("a*c", "ac", true),
            ("a*c", "acb", false),
            ("a*bc", "abcbc", true),
            ("*ab*ab", "ab", false),
            ("*ab*ab", "abab", true),
            ("?", "é", true),
            ("?", "", false),
            ("a?c", "ac", false),
            ("[a-c]", "b", true),
            ("[a-c]", "d", false),
            ("[!a-c]", "d", true),
            ("[!a-c]", "", false),
            ("[]]", "]", true),
            ("[!]]", "]", false),
            ("[a-]", "-", true),
            ("[-a]", "-", true),
            ("[a-c-e]", "-", true),
            ("[z-a]", "m", false),
            ("[!z-a]", "m", true),
            ("[*]", "*", true),
            ("[*]", "a", false),
            ("[a", "[a", true),
            ("[", "[", true),
            ("[]", "[]", true),
            ("[!]", "[!]", true),
            ("GITHUB*", "github", false),
            ("git\\*", "git\\hub", true),
            ("github:issues.*", "github:issues.create#aaaaaaaa", true),
        ] {
            assert_eq!(Glob::new(glob).matches(name), wanted, "{glob} {name}");
        }
    }

    #[test]
    fn what_matches_nothing_or_is_too_long_is_refused() {
        let long = "a".repeat(limits::MAX_PATTERN_BYTES + 1);
        for (text, code) in [("", ErrorCode::InvalidInput), (&long, ErrorCode::TooLarge)] {
            let error = Glob::read_all(&["ok*".to_owned(), text.to_owned()], "/tools").unwrap_err();
            assert_eq!((error.code(), error.path()), (code, "/tools/1"));
        }
    }

    #[test]
    fn many_asterisks_do_not_multiply() {
        // A matcher that tries every place of every asterisk would not end.
        let glob = Glob::new(&"*a".repeat(500));
        assert!(!glob.matches(&format!("{}b", "a".repeat(100_000))));
        assert!(glob.matches(&"a".repeat(100_000)));
    }

    /// Tries everything, reading the pattern character by character.
    fn naive(glob: &[char], name: &[char]) -> bool {
        match (glob.first(), name.first()) {
            (None, rest) => rest.is_none(),
            (Some('*'), _) => (0..=name.len()).any(|skipped| naive(&glob[1..], &name[skipped..])),
            (Some(_), None) => false,
            (Some('?'), Some(_)) => naive(&glob[1..], &name[1..]),
            (Some('['), Some(ch)) => {
                let from = if glob.get(1) == Some(&'!') { 2 } else { 1 };
                match (from + 1..glob.len()).find(|at| glob[*at] == ']') {
                    None => *ch == '[' && naive(&glob[1..], &name[1..]),
                    Some(end) => {
                        let mut members = Vec::new();
                        let mut at = from;
                        while at < end {
                            if at + 2 < end && glob[at + 1] == '-' {
                                members.extend(glob[at]..=glob[at + 2]);
                                at += 3;
                            } else {
                                members.push(glob[at]);
                                at += 1;
                            }
                        }
                        members.contains(ch) != (from == 2) && naive(&glob[end + 1..], &name[1..])
                    }
                }
            }
            (Some(own), Some(ch)) => own == ch && naive(&glob[1..], &name[1..]),
        }
    }

    proptest! {
        #![proptest_config(property(4_000))]

        #[test]
        fn a_glob_matches_what_a_naive_matcher_does(glob in "[ab*?\\[\\]!-]{0,8}", name in "[ab\\]!-]{0,8}") {
            let (glob_chars, name_chars): (Vec<char>, Vec<char>) = (glob.chars().collect(), name.chars().collect());
            prop_assert_eq!(Glob::new(&glob).matches(&name), naive(&glob_chars, &name_chars));
        }

        #[test]
        fn a_name_matches_itself_with_parts_left_open(parts in prop::collection::vec("[a-cé]{0,4}", 1..5)) {
            prop_assert!(Glob::new(&parts.join("*")).matches(&parts.join("ac")));
        }
    }
}
