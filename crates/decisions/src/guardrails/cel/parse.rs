//! Reading expressions.

use serde_json::Value;

use super::{
    CelComparison, CelFunction, ExpressionError, ExpressionKind, ExpressionNode, FUNCTIONS, MAX_DEPTH, MAX_SOURCE,
};
use contextweaver_model::json::parse_float;
use contextweaver_text::pattern::{Dialect, Pattern};
use contextweaver_text::quote::quote;

type ParseResult = Result<ExpressionNode, ExpressionError>;

/// The comparisons, longer signs first.
const COMPARISONS: &[(&str, CelComparison)] = &[
    ("==", CelComparison::Equal),
    ("!=", CelComparison::Unequal),
    ("<=", CelComparison::LessOrEqual),
    (">=", CelComparison::GreaterOrEqual),
    ("<", CelComparison::Less),
    (">", CelComparison::Greater),
];

/// Reads a whole expression.
pub(super) fn expression(source: &str) -> ParseResult {
    if source.len() > MAX_SOURCE {
        let message = format!("an expression has at most {MAX_SOURCE} bytes");
        return Err(ExpressionError { message, position: MAX_SOURCE });
    }
    let mut reader = ExpressionParser { source, at: 0, depth: 0, variables: vec!["action".to_owned()] };
    let node = reader.choice()?;
    reader.skip_space();
    if reader.at < source.len() { Err(reader.problem("expected the end of the expression")) } else { Ok(node) }
}

struct ExpressionParser<'s> {
    source: &'s str,
    at: usize,
    /// Calls within each other; together with the depth of nodes it bounds the recursion here.
    depth: u32,
    variables: Vec<String>,
}

impl<'s> ExpressionParser<'s> {
    fn problem(&self, message: &str) -> ExpressionError {
        ExpressionError { message: message.to_owned(), position: self.at }
    }

    fn problem_at(position: usize, message: String) -> ExpressionError {
        ExpressionError { message, position }
    }

    fn rest(&self) -> &'s str {
        &self.source[self.at..]
    }

    fn skip_space(&mut self) {
        loop {
            self.at += self.rest().len() - self.rest().trim_ascii_start().len();
            if !self.rest().starts_with("//") {
                return;
            }
            self.at += self.rest().find('\n').unwrap_or(self.rest().len());
        }
    }

    /// Takes a sign if it comes next.
    fn take(&mut self, sign: &str) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(sign);
        self.at += if found { sign.len() } else { 0 };
        found
    }

    fn expect(&mut self, sign: &str) -> Result<(), ExpressionError> {
        if self.take(sign) { Ok(()) } else { Err(self.problem(&format!("expected {}", quote(sign)))) }
    }

    fn word(&mut self) -> Option<&'s str> {
        self.skip_space();
        let rest = self.rest();
        let is_part = |ch: char| ch.is_ascii_alphanumeric() || ch == '_';
        let end = rest.find(|ch| !is_part(ch)).unwrap_or(rest.len());
        if end == 0 || rest.starts_with(|ch: char| ch.is_ascii_digit()) {
            return None;
        }
        self.at += end;
        Some(&rest[..end])
    }

    fn node(&self, kind: ExpressionKind, children: &[u32]) -> ParseResult {
        let depth = children.iter().max().map_or(1, |deepest| deepest + 1);
        if depth > MAX_DEPTH {
            return Err(self.problem(&format!("an expression nests at most {MAX_DEPTH} levels")));
        }
        Ok(ExpressionNode { kind, depth })
    }

    /// Reads what may nest; the source decides how deep, so it is counted.
    fn nested(&mut self, read: fn(&mut Self) -> ParseResult) -> ParseResult {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.problem(&format!("an expression nests at most {MAX_DEPTH} levels")));
        }
        let node = read(self);
        self.depth -= 1;
        node
    }

    fn choice(&mut self) -> ParseResult {
        self.nested(|reader| {
            let condition = reader.chain(false)?;
            if !reader.take("?") {
                return Ok(condition);
            }
            let then = reader.choice()?;
            reader.expect(":")?;
            let otherwise = reader.choice()?;
            let depths = [condition.depth, then.depth, otherwise.depth];
            reader.node(ExpressionKind::Choice(Box::new([condition, then, otherwise])), &depths)
        })
    }

    fn chain(&mut self, all: bool) -> ParseResult {
        let sign = if all { "&&" } else { "||" };
        let part = |reader: &mut Self| if all { reader.comparison() } else { reader.chain(true) };
        let first = part(self)?;
        if !self.take(sign) {
            return Ok(first);
        }
        let mut parts = vec![first, part(self)?];
        while self.take(sign) {
            parts.push(part(self)?);
        }
        let depths: Vec<u32> = parts.iter().map(|part| part.depth).collect();
        self.node(ExpressionKind::Chain { all, parts }, &depths)
    }

    fn comparison(&mut self) -> ParseResult {
        let left = self.sum()?;
        let Some(comparison) = self.comparison_sign() else { return Ok(left) };
        let right = self.sum()?;
        let again = self.at;
        if self.comparison_sign().is_some() {
            self.at = again;
            self.skip_space();
            return Err(self.problem("comparisons do not chain"));
        }
        let depths = [left.depth, right.depth];
        self.node(ExpressionKind::Compare(comparison, Box::new(left), Box::new(right)), &depths)
    }

    fn comparison_sign(&mut self) -> Option<CelComparison> {
        for (sign, comparison) in COMPARISONS {
            if self.take(sign) {
                return Some(*comparison);
            }
        }
        let before = self.at;
        if self.word() == Some("in") {
            return Some(CelComparison::In);
        }
        self.at = before;
        None
    }

    fn sum(&mut self) -> ParseResult {
        self.arithmetic(&['+', '-'], |reader| reader.arithmetic(&['*', '/', '%'], Self::unary))
    }

    fn arithmetic(&mut self, signs: &[char], operand: fn(&mut Self) -> ParseResult) -> ParseResult {
        let mut left = operand(self)?;
        loop {
            self.skip_space();
            let Some(sign) = self.rest().chars().next().filter(|ch| signs.contains(ch)) else { return Ok(left) };
            self.at += 1;
            let right = operand(self)?;
            let depths = [left.depth, right.depth];
            left = self.node(ExpressionKind::Arithmetic(sign, Box::new(left), Box::new(right)), &depths)?;
        }
    }

    fn unary(&mut self) -> ParseResult {
        self.skip_space();
        let is_not = self.rest().starts_with('!');
        if !is_not && !self.rest().starts_with('-') {
            return self.postfix();
        }
        self.at += 1;
        let operand = self.nested(Self::unary)?;
        let depth = [operand.depth];
        let operand = Box::new(operand);
        self.node(if is_not { ExpressionKind::Not(operand) } else { ExpressionKind::Minus(operand) }, &depth)
    }

    fn postfix(&mut self) -> ParseResult {
        let mut node = self.primary()?;
        loop {
            if self.take("[") {
                let index = self.choice()?;
                self.expect("]")?;
                let depths = [node.depth, index.depth];
                node = self.node(ExpressionKind::Index(Box::new(node), Box::new(index)), &depths)?;
            } else if self.take(".") {
                self.skip_space();
                let start = self.at;
                let name = self.word().ok_or_else(|| self.problem("expected a name"))?;
                node = if self.take("(") {
                    self.method(node, name, start)?
                } else {
                    let depth = [node.depth];
                    self.node(ExpressionKind::Member(Box::new(node), name.to_owned()), &depth)?
                };
            } else {
                return Ok(node);
            }
        }
    }

    fn primary(&mut self) -> ParseResult {
        self.skip_space();
        let start = self.at;
        match self.rest().as_bytes().first() {
            None => Err(self.problem("expected a value")),
            Some(b'(') => {
                self.at += 1;
                let node = self.choice()?;
                self.expect(")")?;
                Ok(node)
            }
            Some(b'[') => {
                self.at += 1;
                let parts = self.list("]")?;
                let depths: Vec<u32> = parts.iter().map(|part| part.depth).collect();
                self.node(ExpressionKind::List(parts), &depths)
            }
            Some(b'0'..=b'9' | b'.') => self.number(),
            Some(b'\'' | b'"') => self.string(false),
            Some(_) => match self.word() {
                Some("true") => self.node(ExpressionKind::Literal(true.into()), &[]),
                Some("false") => self.node(ExpressionKind::Literal(false.into()), &[]),
                Some("null") => self.node(ExpressionKind::Literal(Value::Null), &[]),
                Some("r") if self.rest().starts_with(['\'', '"']) => self.string(true),
                Some(name) if self.take("(") => self.function(name, start),
                Some(name) => self.variable(name, start),
                None => Err(self.problem("expected a value")),
            },
        }
    }

    fn variable(&mut self, name: &str, start: usize) -> ParseResult {
        match self.variables.iter().rev().position(|known| known == name) {
            Some(place) => self.node(ExpressionKind::Variable(place), &[]),
            None => Err(Self::problem_at(start, format!("there is no {}; rules are about `action`", quote(name)))),
        }
    }

    /// Reads expressions up to a closing sign.
    fn list(&mut self, close: &str) -> Result<Vec<ExpressionNode>, ExpressionError> {
        let mut parts = Vec::new();
        while !self.take(close) {
            if !parts.is_empty() {
                self.expect(",")?;
                if self.take(close) {
                    break;
                }
            }
            parts.push(self.choice()?);
        }
        Ok(parts)
    }

    fn method(&mut self, target: ExpressionNode, name: &str, start: usize) -> ParseResult {
        if matches!(name, "exists" | "all") {
            return self.each(target, name == "all");
        }
        let arguments = self.at;
        let mut parts = vec![target];
        parts.extend(self.list(")")?);
        self.call(name, parts, [start, arguments])
    }

    fn function(&mut self, name: &str, start: usize) -> ParseResult {
        let arguments = self.at;
        let parts = self.list(")")?;
        if name != "has" {
            return self.call(name, parts, [start, arguments]);
        }
        let mut parts = parts.into_iter();
        match (parts.next(), parts.next()) {
            (Some(ExpressionNode { kind: ExpressionKind::Member(target, member), depth }), None) => {
                self.node(ExpressionKind::Has(target, member), &[depth])
            }
            _ => Err(Self::problem_at(start, "has() takes one member, as in has(action.context.x)".to_owned())),
        }
    }

    fn call(&mut self, name: &str, mut parts: Vec<ExpressionNode>, [start, arguments]: [usize; 2]) -> ParseResult {
        let Some((_, function, count)) = FUNCTIONS.iter().find(|(known, ..)| *known == name) else {
            return Err(Self::problem_at(start, format!("there is no function {}", quote(name))));
        };
        if parts.len() != *count {
            return Err(Self::problem_at(start, format!("{name} takes {count} arguments, the receiver among them")));
        }
        let depths: Vec<u32> = parts.iter().map(|part| part.depth).collect();
        if let (
            CelFunction::Matches,
            [_, ExpressionNode { kind: ExpressionKind::Literal(Value::String(source)), .. }],
        ) = (function, &parts[..])
        {
            let pattern = Pattern::expression(source, Dialect::Whole, false)
                .map_err(|error| Self::problem_at(arguments, error.message().to_owned()))?;
            return self.node(ExpressionKind::Matches(Box::new(parts.swap_remove(0)), Box::new(pattern)), &depths);
        }
        self.node(ExpressionKind::Call(*function, parts), &depths)
    }

    fn each(&mut self, list: ExpressionNode, all: bool) -> ParseResult {
        self.skip_space();
        let start = self.at;
        let name = self.word().unwrap_or_default().to_owned();
        if name.is_empty() || self.variables.contains(&name) || !self.take(",") {
            return Err(Self::problem_at(start, "expected a new name for the element, and a comma".to_owned()));
        }
        self.variables.push(name);
        let condition = self.choice()?;
        self.variables.pop();
        self.expect(")")?;
        let depths = [list.depth, condition.depth];
        self.node(ExpressionKind::Each { all, list: Box::new(list), condition: Box::new(condition) }, &depths)
    }

    fn number(&mut self) -> ParseResult {
        let start = self.at;
        let bytes = self.rest().as_bytes();
        let is_hex = bytes.starts_with(b"0x");
        let is_part = |at: usize| match bytes[at] {
            b'+' | b'-' => at > 0 && !is_hex && matches!(bytes[at - 1], b'e' | b'E'),
            b'.' => !bytes[..at].contains(&b'.'),
            byte => byte.is_ascii_alphanumeric(),
        };
        let end = (0..bytes.len()).find(|at| !is_part(*at)).unwrap_or(bytes.len());
        let text = &self.rest()[..end];
        let whole = text.strip_prefix("0x").map_or_else(|| text.parse().ok(), |hex| i64::from_str_radix(hex, 16).ok());
        let is_float = text.contains(['.', 'e', 'E']) && !is_hex;
        let value = match whole {
            Some(whole) => Some(Value::from(whole)),
            None if is_float => parse_float(text).filter(|float| float.is_finite()).map(Value::from),
            None => None,
        };
        let value = value.ok_or_else(|| Self::problem_at(start, format!("{} is no number here", quote(text))))?;
        self.at += end;
        self.node(ExpressionKind::Literal(value), &[])
    }

    fn string(&mut self, raw: bool) -> ParseResult {
        let start = self.at;
        let mut chars = self.rest().char_indices();
        let quote_sign = chars.next().map(|(_, ch)| ch);
        let mut out = String::new();
        while let Some((at, ch)) = chars.next() {
            match ch {
                _ if Some(ch) == quote_sign => {
                    self.at = start + at + 1;
                    return self.node(ExpressionKind::Literal(out.into()), &[]);
                }
                '\\' if !raw => {
                    let escaped = escape(&mut chars);
                    out.push(escaped.ok_or_else(|| Self::problem_at(start + at, "unknown escape".to_owned()))?);
                }
                _ => out.push(ch),
            }
        }
        Err(Self::problem_at(start, "the string does not end".to_owned()))
    }
}

/// Reads what follows a backslash.
fn escape(chars: &mut std::str::CharIndices<'_>) -> Option<char> {
    let (_, ch) = chars.next()?;
    let digits = match ch {
        'n' => return Some('\n'),
        't' => return Some('\t'),
        'r' => return Some('\r'),
        '\\' | '\'' | '"' | '`' | '?' => return Some(ch),
        'x' => 2,
        'u' => 4,
        'U' => 8,
        _ => return None,
    };
    let mut code = 0_u32;
    for _ in 0..digits {
        code = code.checked_mul(16)? + chars.next()?.1.to_digit(16)?;
    }
    char::from_u32(code)
}
