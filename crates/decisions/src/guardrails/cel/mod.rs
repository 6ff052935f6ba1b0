//! The part of the Common Expression Language that rules are written in, with bounded work.
//!
//! Literals, lists, `action.…` and `[…]`, `== != < <= > >= in`, `&& || !` (a false or true side decides whatever became of
//! the other), `?:`, `+ - * / %`, `size startsWith endsWith contains matches`, `has(a.b)`, `list.exists(x, …)` and
//! `list.all(x, …)`. Numbers compare by value, whole or not, because JSON does not keep them apart. Regular expressions
//! run without backtracking. An evaluation takes at most 10,000 steps; 256 steps of a pattern count as one. What is in a
//! value counts where it is copied or compared.

mod parse;
mod run;
mod values;

pub(super) use values::is_equal;

use serde_json::Value;

use contextweaver_base::{Error, StepBudget};
use contextweaver_text::pattern::Pattern;

/// Bytes of one expression, nesting of it, and steps of one evaluation.
const MAX_SOURCE: usize = 4096;
const MAX_DEPTH: u32 = 32;
const MAX_STEPS: u64 = 10_000;

/// A syntax error, or a construct that is not supported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpressionError {
    /// What was expected.
    pub message: String,
    /// Byte offset in the expression.
    pub position: usize,
}

/// Why an expression has no value for an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EvaluationError {
    /// A member that is read does not exist; the rule does not match.
    Missing,
    /// Types do not go together, or a bound of steps is reached; the rule cannot be evaluated.
    Wrong(String),
}

impl From<Error> for EvaluationError {
    fn from(error: Error) -> Self {
        Self::Wrong(error.message().to_owned())
    }
}

/// A parsed expression.
#[derive(Debug, Clone)]
pub struct Expression(ExpressionNode);

impl Expression {
    /// Reads an expression over `action`.
    pub fn parse(source: &str) -> Result<Self, ExpressionError> {
        parse::expression(source).map(Self)
    }

    /// Tells whether the expression holds for a value of `action`, within what is left for all expressions of a check.
    pub fn holds(&self, action: &Value, all: &mut StepBudget) -> Result<bool, EvaluationError> {
        run::holds(&self.0, action, all)
    }
}

#[derive(Debug, Clone)]
struct ExpressionNode {
    kind: ExpressionKind,
    depth: u32,
}

#[derive(Debug, Clone)]
enum ExpressionKind {
    Literal(Value),
    /// A variable by its place, counted from the innermost; the outermost is `action`.
    Variable(usize),
    Member(Box<ExpressionNode>, String),
    Index(Box<ExpressionNode>, Box<ExpressionNode>),
    Has(Box<ExpressionNode>, String),
    Not(Box<ExpressionNode>),
    Minus(Box<ExpressionNode>),
    /// All of them hold, or any of them.
    Chain {
        all: bool,
        parts: Vec<ExpressionNode>,
    },
    Compare(CelComparison, Box<ExpressionNode>, Box<ExpressionNode>),
    Arithmetic(char, Box<ExpressionNode>, Box<ExpressionNode>),
    Choice(Box<[ExpressionNode; 3]>),
    List(Vec<ExpressionNode>),
    Call(CelFunction, Vec<ExpressionNode>),
    Matches(Box<ExpressionNode>, Box<Pattern>),
    /// The condition holds for all elements, or for any.
    Each {
        all: bool,
        list: Box<ExpressionNode>,
        condition: Box<ExpressionNode>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CelComparison {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CelFunction {
    Size,
    StartsWith,
    EndsWith,
    Contains,
    Matches,
}

/// The functions by name, with how many arguments they take, the receiver among them.
const FUNCTIONS: &[(&str, CelFunction, usize)] = &[
    ("size", CelFunction::Size, 1),
    ("startsWith", CelFunction::StartsWith, 2),
    ("endsWith", CelFunction::EndsWith, 2),
    ("contains", CelFunction::Contains, 2),
    ("matches", CelFunction::Matches, 2),
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use contextweaver_base::limits;

    fn evaluated(expression: &Expression, action: &Value) -> Result<bool, EvaluationError> {
        expression.holds(action, &mut StepBudget::new("the rules", limits::MAX_SEARCH_STEPS))
    }

    fn holds(source: &str) -> Result<bool, EvaluationError> {
        let action = json!({
            "stakes": "high", "confidence": 0.4, "tags": ["db", "ops"], "category": "",
            "context": { "n": 5, "half": 2.5, "none": null, "list": [1, 2.0, "x"], "env": "prod", "a b": { "c": true },
                "text": "Deploy naïve 😀", "flag": false, "big": 9_223_372_036_854_775_807_i64 },
        });
        evaluated(&Expression::parse(source).unwrap_or_else(|problem| panic!("{source}: {problem:?}")), &action)
    }

    #[test]
    fn expressions_hold() {
        for source in [
            "action.stakes == 'high' && action.confidence < 0.5",
            "action.stakes in ['high', \"critical\"]",
            "!(action.stakes in [])",
            "'env' in action.context",
            "!('x' in action.context)",
            "size(action.tags) == 2 && action.tags.size() == 2 && size('😀ï') == 2 && size(action.context['a b']) == 1",
            "action.context.text.startsWith('Deploy') && action.context.text.endsWith('😀')",
            "action.context.text.contains('naïve') && !action.context.text.contains('x')",
            "action.context.text.matches('^De.*n') && matches(action.stakes, r'h\\w+h$')",
            "action.context['a b'].c && action.context.list[2] == 'x' && action.tags[0] == 'db'",
            "has(action.context.env) && !has(action.context.nothing) && has(action.context.none)",
            "action.context.none == null && action.context.env != null",
            "action.context.n / 2 == 2 && action.context.n % 2 == 1 && action.context.half * 2 == 5",
            "1 + 2 * 3 - 4 == 3 && -action.context.n == -5 && (1 + 2) * 3 == 9 && 7 - 2 - 1 == 4",
            "1 == 1.0 && [1, 2] == [1.0, 2] && 'a' + 'b' == 'ab' && [1] + [2] == [1, 2] && 2 in action.context.list",
            "action.tags.exists(t, t == 'ops') && !action.tags.all(t, t == 'ops') && action.tags.all(t, size(t) > 1)",
            "action.tags.exists(t, action.context.list.exists(x, x == 'x' && t == 'db'))",
            "action.context.flag ? false : action.stakes == 'high' ? true : false",
            "1 < 2 && 2 <= 2 && 'a' < 'b' && 'b' >= 'b' && 3 > 2.5 && false < true",
            "action.context.missing == 1 || true",
            "true || action.stakes < 5",
            "!(false && action.context.missing)",
            "action.stakes != 1 && action.context.list != 'x'",
            "1e3 == 1000.0 && .5 == 0.5 && 0x1F == 31 && 0xe-1 == 13",
            "'a\\'\\n\\u00e9' == \"a'\\né\"",
            "[true, false].exists(x, x) // why\n && true",
            "[1, 0].exists(x, 1 / x == 1)",
        ] {
            assert_eq!(holds(source), Ok(true), "{source}");
        }
    }

    #[test]
    fn what_is_missing_or_wrong_is_told_apart() {
        for source in [
            "action.context.missing == 1",
            "action.context.missing.deeper",
            "action.context.missing == 1 || false",
            "action.nothing",
            "has(action.nothing.more)",
            "action.context['zz']",
            "action.tags[7] == 'x'",
            "action.context.missing && action.context.env",
        ] {
            assert_eq!(holds(source), Err(EvaluationError::Missing), "{source}");
        }
        for source in [
            "action.stakes < 5",
            "action.stakes",
            "!action.stakes",
            "action.stakes.deeper",
            "1 / 0 == 1",
            "5 % 0 == 1",
            "5.5 % 2 == 1",
            "action.context.big + 1 > 0",
            "-action.stakes == 1",
            "size(5) == 1",
            "action.stakes + 1 == 'high1'",
            "action.stakes.matches(action.stakes + '(')",
            "action.tags.exists(t, t)",
            "action.confidence ? true : false",
            "1 in 2",
            "action.context.env && true",
        ] {
            assert!(matches!(holds(source), Err(EvaluationError::Wrong(_))), "{source}: {:?}", holds(source));
        }
    }

    #[test]
    fn bad_expressions_name_the_place() {
        for (source, position) in [
            ("", 0),
            ("action.stakes = 'high'", 14),
            ("action.stakes ==", 16),
            ("stakes == 'high'", 0),
            ("action.stakes == 'high", 17),
            ("action.stakes.lower() == 'x'", 14),
            ("(true", 5),
            ("true)", 4),
            ("[1, 2", 5),
            ("1 < 2 < 3", 6),
            ("has(action)", 0),
            ("size()", 0),
            ("true ? 1", 8),
            ("action.tags.exists(action, true)", 19),
            ("action.tags.exists(t.u, true)", 19),
            ("action.stakes.matches('(')", 22),
            ("99999999999999999999 == 1", 0),
            ("'\\q'", 1),
            ("1.5.5", 4),
            ("true and false", 5),
            ("b'x' == 1", 0),
        ] {
            assert_eq!(Expression::parse(source).map(|_| ()).unwrap_err().position, position, "{source}");
        }
    }

    #[test]
    fn work_is_bounded() {
        assert!(Expression::parse(&"x".repeat(MAX_SOURCE + 1)).is_err());
        for deep in ["(".repeat(2000), "!".repeat(2000), "[".repeat(2000), "-".repeat(2000), "action.x".repeat(400)] {
            assert!(Expression::parse(&deep).is_err());
        }
        assert!(Expression::parse(&format!("1{} == 1", "+1".repeat(40))).is_err());
        assert!(Expression::parse(&format!("true{}", " ? true".repeat(300))).is_err());
        assert_eq!(holds(&vec!["true"; 500].join(" && ")), Ok(true));
        let many = json!({ "list": vec![json!(1); 200] });
        let nested = Expression::parse("action.list.all(a, action.list.all(b, action.list.all(c, a == 1)))");
        assert!(matches!(evaluated(&nested.unwrap(), &many), Err(EvaluationError::Wrong(_))));
        let long = json!({ "text": "a".repeat(1 << 20) });
        assert_eq!(evaluated(&Expression::parse("action.text.matches('(a*)*b')").unwrap(), &long), Ok(false));
        // A search that needs a set of threads for every character.
        let mixed: String = (0..1_u64 << 20).map(|n| if n * n % 1009 < 500 { 'a' } else { 'b' }).collect();
        let long = json!({ "text": mixed });
        for source in ["action.text.matches('[ab]*a[ab]{900}c')", "action.text + action.text + action.text == ''"] {
            assert!(
                matches!(evaluated(&Expression::parse(source).unwrap(), &long), Err(EvaluationError::Wrong(_))),
                "{source}"
            );
        }
    }

    /// What is in a value counts as well: a whole action was copied or compared for one step.
    #[test]
    fn nested_values_count_whole() {
        let deep = json!([[vec![json!({ "a": 1 }); 2000]]]);
        let action = json!({ "deep": deep, "list": vec![1; 200], "p": "(?:a{0,60}){0,60}b" });
        for source in [
            "action.list.all(a, action.deep == action.deep)",
            "action.list.all(a, action.deep in [1, action.deep])",
            "action.list.all(a, size([action.deep]) == 1)",
            "[action.deep].all(a, action.list.all(b, size(a) == 1))",
            "action.list.all(a, size(action.deep + action.deep) == 2)",
            "action.list.all(a, !'aa'.matches(action.p))",
        ] {
            let evaluated = evaluated(&Expression::parse(source).unwrap(), &action);
            let Err(EvaluationError::Wrong(problem)) = evaluated else { panic!("{source}: {evaluated:?}") };
            assert_eq!(problem, "the expression takes more than 10000 steps", "{source}");
        }
        // To tell two values apart takes what they have in common.
        for source in ["action.deep != null", "action.list.all(a, action.deep != [])", "!(action.deep in [1, 2])"] {
            assert_eq!(evaluated(&Expression::parse(source).unwrap(), &action), Ok(true), "{source}");
        }
    }

    #[test]
    fn work_grows_with_what_is_looked_at() {
        let spent = |source: &str, count: usize| {
            let text = "ab".repeat(20 * count);
            let list: Vec<_> = (0..count).map(|n| json!({ "n": n, "text": "x" })).collect();
            let action = json!({ "list": list, "text": text });
            let mut all = StepBudget::new("the rules", limits::MAX_SEARCH_STEPS);
            assert_eq!(Expression::parse(source).unwrap().holds(&action, &mut all), Ok(true), "{source}");
            all.spent()
        };
        for source in [
            "action.list.all(a, a.text == 'x')",
            "!action.list.exists(a, a.n < 0)",
            "action.list == action.list",
            "size(action.list + action.list) > 0",
            "!(action.text + 'b' in [action.text, action.text + 'a'])",
            "!action.text.matches('[ab]*a[ab]{20}c')",
        ] {
            let (less, more) = (spent(source, 200), spent(source, 400));
            assert!(10 * more <= 22 * less, "{source}: {less} {more}");
        }
    }

    #[test]
    fn whatever_is_written_is_read_or_refused() {
        let words = [
            "action", ".", "tags", "context", "[", "]", "(", ")", "'a'", "1", "2.5", "==", "<", "&&", "||", "!", "-",
            "+", "%", "?", ":", ",", "in", "size", "exists", "all", "has", "x", "matches", "true", "null", "é", "'",
            "\\", " ", "0x",
        ];
        let action = json!({ "tags": ["a", 1, null], "context": { "x": [1, { "a": 2 }] } });
        let mut state = 7_u64;
        let mut next = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % below
        };
        let mut read = 0;
        for _ in 0..20_000 {
            let source: String = (0..=next(12)).map(|_| words[next(words.len())]).collect();
            match Expression::parse(&source) {
                Ok(expression) => {
                    read += 1;
                    let _ = evaluated(&expression, &action);
                }
                Err(problem) => assert!(problem.position <= source.len(), "{source}"),
            }
        }
        assert!(read > 100, "{read}");
    }
}
