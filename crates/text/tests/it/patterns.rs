//! Patterns match what those of the crate `regex` match.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first thing that is wrong")]

use contextweaver_base::{StepBudget, limits};
use contextweaver_test_support::property;
use contextweaver_text::{Dialect, Pattern};
use proptest::prelude::*;
use regex_automata::nfa::thompson::pikevm::PikeVM;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};

/// Expressions of what both know, written in the same way for both.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => prop::sample::select(vec!["a", "b", "c", "é", "A", "1", " ", r"\.", r"\n"]).prop_map(str::to_owned),
        1 => prop::sample::select(vec![".", "[ab]", "[^a]", "[a-c1]", r"\d", r"[^\d ]", "[é-ü]", r"\D"]).prop_map(str::to_owned),
        1 => prop::sample::select(vec!["^", "$", r"\b", r"\B", "()"]).prop_map(str::to_owned),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let counts = prop::sample::select(vec!["*", "+", "?", "*?", "{2}", "{0,3}", "{1,}", "{2,4}?", "{0}"]);
        prop_oneof![
            3 => prop::collection::vec(inner.clone(), 1..4).prop_map(|all| all.concat()),
            1 => prop::collection::vec(inner.clone(), 2..4).prop_map(|all| format!("(?:{})", all.join("|"))),
            2 => (inner, counts).prop_map(|(one, count)| format!("({one}){count}")),
        ]
    })
}

fn text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec!["a", "b", "c", "aa", "ab", "é", "ü", "A", "B", "1", " ", ".", "\n", "-"]);
    prop::collection::vec(pieces, 0..40).prop_map(|pieces| pieces.concat())
}

/// The match that ends first and, of those, the one that begins first.
fn expected(source: &str, (lines, fold): (bool, bool), text: &str, from: usize) -> Option<(usize, usize)> {
    let config = syntax::Config::new().multi_line(lines).case_insensitive(fold);
    let machine = PikeVM::builder().syntax(config).build(source).unwrap();
    let input = Input::new(text).range(from..).anchored(Anchored::No).earliest(true);
    machine.find(&mut machine.create_cache(), input).map(|found| (found.start(), found.end()))
}

proptest! {
    #![proptest_config(property(4_000))]

    #[test]
    fn patterns_match_what_regex_matches(source in expression(), text in text(), fold: bool, at in 0_usize..10) {
        let ours = Pattern::expression(&source, Dialect::Lines, fold).unwrap();
        let (mut matcher, mut budget) = (ours.matcher(), StepBudget::new("the test", limits::MAX_SEARCH_STEPS));
        let theirs = regex::RegexBuilder::new(&source).multi_line(true).case_insensitive(fold).build().unwrap();
        prop_assert_eq!(matcher.is_match(&text, &mut budget).unwrap(), theirs.is_match(&text), "{} {:?}", source, text);
        let from = text.char_indices().nth(at).map_or(text.len(), |(at, _)| at);
        let found = matcher.find(&text, from, &mut budget).unwrap();
        prop_assert_eq!(found, expected(&source, (true, fold), &text, from), "{} {:?} from {}", source, text, from);
    }

    #[test]
    fn whole_patterns_match_what_regex_matches(source in expression(), text in text()) {
        // Of JavaScript: signs and words are ASCII, and nothing but the ends of the text is an edge.
        let source = source.replace(r"\b", r"(?-u:\b)").replace(r"\B", r"(?-u:\B)");
        let plain = source.replace("(?-u:", "").replace(r"\b)", r"\b").replace(r"\B)", r"\B");
        let ours = Pattern::expression(&plain, Dialect::Whole, false).unwrap();
        let mut budget = StepBudget::new("the test", limits::MAX_SEARCH_STEPS);
        let found = ours.matcher().is_match(&text, &mut budget).unwrap();
        if let Ok(theirs) = regex::Regex::new(&source) {
            prop_assert_eq!(found, theirs.is_match(&text), "{} {:?}", plain, text);
        }
    }
}

#[test]
fn counted_repetitions_are_those_of_regex() {
    let text = "a".repeat(70) + "b";
    for least in [0, 1, 2, 7, 30] {
        for most in [0, 1, 2, 7, 30] {
            for source in [
                format!("^(?:a{{{least},{}}}){{0,2}}b$", least + most),
                format!("(?:a{{{least}}}){{{most}}}b$"),
                format!("^(?:a?){{{most}}}a{{{least},}}b"),
            ] {
                let ours = Pattern::expression(&source, Dialect::Lines, false).unwrap();
                let mut budget = StepBudget::new("the test", limits::MAX_SEARCH_STEPS);
                let found = ours.matcher().find(&text, 0, &mut budget).unwrap();
                assert_eq!(found, expected(&source, (true, false), &text, 0), "{source}");
            }
        }
    }
}
