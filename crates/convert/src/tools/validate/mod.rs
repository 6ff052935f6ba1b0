//! Checks arguments and results against the JSON Schema of a tool.
//!
//! The keywords of 2020-12 that occur in such schemas; what is not known here is reported and not enforced, and
//! `format` says what a text is without being checked. A difference names the place and what is expected there, never
//! the value that was found.

mod defaults;
mod parts;
mod values;
mod words;

use serde::Serialize;
use serde_json::Value;

use super::schema::{check_local, check_size, each_schema, resolve};
use contextweaver_base::limits;
use contextweaver_base::order::SortedMap;
use contextweaver_base::{Error, ErrorCode, Result, StepBudget};
use contextweaver_model::Warning;
use contextweaver_model::json::{JsonMap, pointer};
use contextweaver_text::pattern::{Dialect, Matcher, Pattern};
use contextweaver_text::quote::quote;
use contextweaver_text::redact::redact_id;
use contextweaver_text::unicode::truncate;

/// A place where a value does not fit its schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SchemaMismatch {
    /// JSON pointer of the place in the value.
    pub path: String,
    /// The keyword of the schema.
    pub keyword: String,
    /// What the keyword expects there, in words.
    pub expected: String,
}

/// The result of a validation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Validation {
    /// Whether the value fits.
    pub valid: bool,
    /// The first differences, at most ten.
    pub errors: Vec<SchemaMismatch>,
    /// Parts of the schema that were not enforced.
    pub warnings: Vec<Warning>,
    /// The value with defaults filled in, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
}

/// Checks a value. With `use_defaults` absent properties get the `default` of their schema first, as it stands there.
/// The paths of warnings and of errors in the schema begin with `path`.
///
/// # Errors
/// `INVALID_INPUT`, `TOO_LARGE` or `TOO_DEEP` where the schema itself is at fault, with the reason `invalid_schema`,
/// `remote_ref` or `schema_too_large`; the last also where checking takes more than 33,554,432 steps, patterns and
/// defaults among them.
///
/// ```
/// use contextweaver_convert::tools::validate_args;
/// use serde_json::json;
///
/// let schema = json!({ "type": "object", "properties": {
///     "city": { "type": "string" }, "days": { "type": "integer", "default": 3 },
/// }, "required": ["city"] });
/// let checked = validate_args(&schema, "", &json!({ "city": "Oslo" }), true)?;
/// assert!(checked.valid);
/// assert_eq!(checked.value, Some(json!({ "city": "Oslo", "days": 3 })));
/// let checked = validate_args(&schema, "", &json!({ "city": 7 }), false)?;
/// assert_eq!((checked.errors[0].path.as_str(), checked.errors[0].expected.as_str()), ("/city", "string"));
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn validate_args(schema: &Value, path: &str, value: &Value, use_defaults: bool) -> Result<Validation> {
    if !matches!(schema, Value::Object(_) | Value::Bool(_)) {
        let error = Error::new(ErrorCode::InvalidInput, "a schema is an object").detail("reason", "invalid_schema");
        return Err(error.at(path));
    }
    check_size(schema, path)?;
    check_local(schema, path)?;
    let (patterns, warnings) = survey(schema, path)?;
    let mut shared = Shared::new(schema, &patterns);
    let refused = |error: Error| {
        let is_large = error.code() == ErrorCode::TooLarge;
        if !is_large {
            return error.at(path);
        }
        let hint = "a schema with fewer alternatives, patterns or references";
        error.detail("reason", "schema_too_large").hint(hint).at(path)
    };
    let filled = use_defaults.then(|| defaults::filled(schema, value, &mut shared.budget)).transpose();
    let filled = filled.map_err(refused)?;
    let mut checker = SchemaChecker::new(&mut shared, 0);
    let valid = checker.check(schema, filled.as_ref().unwrap_or(value), true).map_err(refused)?;
    let errors = std::mem::take(&mut checker.failures);
    Ok(Validation { valid, errors, warnings, value: filled })
}

/// Keywords that assert something and are not known here.
const UNSUPPORTED: &[&str] =
    &["unevaluatedProperties", "unevaluatedItems", "$dynamicRef", "$recursiveRef", "dependencies"];

/// One step from a value to a part of it.
#[derive(Debug, Clone, Copy)]
enum PathStep<'v> {
    Key(&'v str),
    Index(usize),
}

/// Steps of applying a schema to a value, and of one of its keywords.
const SCHEMA_STEPS: usize = 32;
const KEYWORD_STEPS: usize = 8;
/// Bytes that are read, compared or counted in one step.
const STEP_BYTES: usize = 16;

/// Every pattern of the schema; nothing for one that cannot be used.
type Patterns<'s> = SortedMap<&'s str, Option<Pattern>>;

/// What all parts of one validation use.
struct Shared<'s, 'p> {
    root: &'s Value,
    patterns: &'p Patterns<'s>,
    matchers: SortedMap<&'s str, Matcher<'p>>,
    /// Bytes of the matchers.
    matcher_bytes: usize,
    /// What the `$ref`s lead to that were followed.
    targets: SortedMap<&'s str, Option<&'s Value>>,
    budget: StepBudget,
}

impl<'s, 'p> Shared<'s, 'p> {
    fn new(root: &'s Value, patterns: &'p Patterns<'s>) -> Self {
        let budget = StepBudget::new("checking the value", limits::MAX_SCHEMA_STEPS);
        Self { root, patterns, matchers: SortedMap::new(), matcher_bytes: 0, targets: SortedMap::new(), budget }
    }

    /// Tells whether a text matches a pattern; nothing if the pattern cannot be used.
    fn matches(&mut self, pattern: &'s str, text: &str) -> Result<Option<bool>> {
        let mut found = false;
        let is_usable = self.matches_each(pattern, &[text], &mut |_| found = true)?;
        Ok(is_usable.then_some(found))
    }

    /// Calls `found` with the place of each text that matches a pattern; tells whether the pattern can be used.
    fn matches_each(&mut self, pattern: &'s str, texts: &[&str], found: &mut dyn FnMut(usize)) -> Result<bool> {
        let Some(Some(compiled)) = self.patterns.get(pattern) else { return Ok(false) };
        if self.matcher_bytes > limits::MAX_MATCHER_BYTES {
            self.matchers.clear();
            self.matcher_bytes = 0;
        }
        if !self.matchers.contains_key(pattern) {
            self.matchers.insert(pattern, compiled.matcher());
        }
        let Some(matcher) = self.matchers.get_mut(pattern) else { return Ok(false) };
        let before = matcher.memory();
        for (place, text) in texts.iter().enumerate() {
            if matcher.is_match(text, &mut self.budget)? {
                found(place);
            }
        }
        self.matcher_bytes += matcher.memory().saturating_sub(before);
        Ok(true)
    }

    /// Returns what a `$ref` leads to.
    fn target(&mut self, ref_text: &'s str) -> Result<Option<&'s Value>> {
        self.budget.charge(SCHEMA_STEPS + ref_text.len() / STEP_BYTES)?;
        if let Some(known) = self.targets.get(ref_text) {
            return Ok(*known);
        }
        // Every step of the pointer is looked up by its name.
        self.budget.charge(ref_text.matches('/').count() * SCHEMA_STEPS)?;
        let target = resolve(self.root, ref_text);
        self.targets.insert(ref_text, target);
        Ok(target)
    }
}

/// Looks for what cannot be enforced, and reads the patterns.
fn survey<'s>(root: &'s Value, path: &str) -> Result<(Patterns<'s>, Vec<Warning>)> {
    let mut warnings = Vec::new();
    let mut patterns = Patterns::new();
    each_schema(root, path, &mut |map, at| {
        for (key, value) in map {
            let mut warn = |code, message: String| warnings.push(Warning::new(code, message, pointer(&at(), key)));
            match (key.as_str(), value) {
                (name, _) if UNSUPPORTED.contains(&name) => {
                    warn("unsupported_keyword", format!("`{name}` is not enforced"));
                }
                ("$ref", Value::String(text)) if resolve(root, text).is_none() => {
                    warn("unresolved_ref", format!("{} leads nowhere and is not enforced", quote(text)));
                }
                ("pattern", Value::String(text)) => compile(&mut patterns, text, &mut warn),
                ("patternProperties", Value::Object(map)) => {
                    map.keys().for_each(|text| compile(&mut patterns, text, &mut warn));
                }
                _ => {}
            }
        }
        Ok(())
    })?;
    Ok((patterns, warnings))
}

struct SchemaChecker<'c, 's, 'v, 'p> {
    shared: &'c mut Shared<'s, 'p>,
    failures: Vec<SchemaMismatch>,
    place: Vec<PathStep<'v>>,
    depth: usize,
    /// Whether values fit what `$ref`s lead to, by the addresses of both: definitions that each refer twice to the next
    /// are looked at once.
    known: SortedMap<(usize, usize), bool>,
    /// The names that no pattern matched, with the addresses of the patterns and of the object: `additionalProperties` asks
    /// for them right after.
    unmatched: Option<(usize, usize, Vec<&'v str>)>,
}

impl<'c, 's, 'v, 'p> SchemaChecker<'c, 's, 'v, 'p> {
    fn new(shared: &'c mut Shared<'s, 'p>, depth: usize) -> Self {
        Self { shared, failures: Vec::new(), place: Vec::new(), depth, known: SortedMap::new(), unmatched: None }
    }

    /// Counts work, and gives up on a schema that makes too much of it.
    fn spend(&mut self, steps: usize) -> Result<()> {
        self.shared.budget.charge(steps)
    }

    /// Tells whether a value fits what a `$ref` leads to.
    fn referred(&mut self, ref_text: &'s str, value: &'v Value, report: bool) -> Result<bool> {
        let Some(target) = self.shared.target(ref_text)? else { return Ok(true) };
        let key = (std::ptr::from_ref(target) as usize, std::ptr::from_ref(value) as usize);
        match self.known.get(&key) {
            Some(true) => return Ok(true),
            // What does not fit is looked at again for its differences, of which ten end it.
            Some(false) if self.is_done(false, report) => return Ok(false),
            _ => {}
        }
        let fits = self.check(target, value, report)?;
        self.known.insert(key, fits);
        Ok(fits)
    }

    /// Tells whether a value fits a schema; with `report`, names the differences.
    fn check(&mut self, schema: &'s Value, value: &'v Value, report: bool) -> Result<bool> {
        self.spend(SCHEMA_STEPS)?;
        let map = match schema {
            Value::Object(map) => map,
            Value::Bool(false) => return Ok(self.fail(report, "false", || "nothing".to_owned())),
            _ => return Ok(true),
        };
        if self.depth >= limits::MAX_SCHEMA_DEPTH {
            let message = format!("schemas within schemas apply more than {} levels deep", limits::MAX_SCHEMA_DEPTH);
            return Err(Error::new(ErrorCode::TooDeep, message).detail("reason", "schema_too_large"));
        }
        self.spend(map.len() * KEYWORD_STEPS)?;
        self.depth += 1;
        let mut fits = true;
        for (keyword, rule) in map {
            fits &= self.keyword(map, keyword, rule, value, report)?;
            if self.is_done(fits, report) {
                break;
            }
        }
        self.depth -= 1;
        Ok(fits)
    }

    fn keyword(
        &mut self,
        schema: &'s JsonMap,
        keyword: &'s str,
        rule: &'s Value,
        value: &'v Value,
        report: bool,
    ) -> Result<bool> {
        match (keyword, value) {
            ("type", _) => Ok(values::has_type(rule, value) || self.fail(report, keyword, || words::types(rule))),
            ("const", _) => Ok(self.is_one_of(std::slice::from_ref(rule), value)?
                || self.fail(report, keyword, || words::one_of(std::slice::from_ref(rule)))),
            ("enum", _) => {
                let all = rule.as_array().map_or(&[][..], Vec::as_slice);
                let known = !rule.is_array() || self.is_one_of(all, value)?;
                Ok(known || self.fail(report, keyword, || words::one_of(all)))
            }
            ("$ref", _) => rule.as_str().map_or(Ok(true), |text| self.referred(text, value, report)),
            ("allOf" | "anyOf" | "oneOf" | "not" | "if", _) => self.combined(schema, keyword, rule, value, report),
            (_, Value::String(text)) => self.string(keyword, rule, text, report),
            (_, Value::Number(number)) => {
                // Before draft 6 true said that the bound beside it is excluded.
                let bound = match (keyword, rule) {
                    ("exclusiveMinimum", Value::Bool(true)) => schema.get("minimum").unwrap_or(rule),
                    ("exclusiveMaximum", Value::Bool(true)) => schema.get("maximum").unwrap_or(rule),
                    _ => rule,
                };
                Ok(values::number_fits(keyword, bound, number)
                    || self.fail(report, keyword, || words::bound(keyword, bound)))
            }
            (_, Value::Array(list)) => self.array(schema, keyword, rule, list, report),
            (_, Value::Object(object)) => self.object(schema, keyword, rule, (value, object), report),
            _ => Ok(true),
        }
    }

    fn combined(
        &mut self,
        schema: &'s JsonMap,
        keyword: &'s str,
        rule: &'s Value,
        value: &'v Value,
        report: bool,
    ) -> Result<bool> {
        let all = rule.as_array().map_or(&[][..], Vec::as_slice);
        match keyword {
            "allOf" => {
                let mut fits = true;
                for one in all {
                    fits &= self.check(one, value, report)?;
                }
                Ok(fits)
            }
            "not" => Ok(!self.check(rule, value, false)? || self.fail(report, keyword, || "something else".to_owned())),
            "if" => {
                let branch = if self.check(rule, value, false)? { "then" } else { "else" };
                schema.get(branch).map_or(Ok(true), |branch| self.check(branch, value, report))
            }
            _ => {
                let wanted = if keyword == "oneOf" { 2 } else { 1 };
                let mut found = 0;
                for one in all {
                    found += usize::from(self.check(one, value, false)?);
                    if found == wanted {
                        break;
                    }
                }
                let fits = found == 1 || !rule.is_array();
                Ok(fits || self.fail(report, keyword, || words::alternatives(keyword, all.len(), found)))
            }
        }
    }

    /// Tells whether a value is the same as one of several.
    fn is_one_of(&mut self, all: &[Value], value: &Value) -> Result<bool> {
        let mut steps = 0;
        let found = all.iter().any(|one| values::same(one, value, &mut steps));
        // A comparison ends within the schema's own value, so that counting afterwards is in time.
        self.spend(steps)?;
        Ok(found)
    }

    fn string(&mut self, keyword: &'s str, rule: &'s Value, text: &'v str, report: bool) -> Result<bool> {
        let fits = match keyword {
            "minLength" | "maxLength" => {
                self.spend(text.len() / STEP_BYTES)?;
                values::count_fits(keyword == "minLength", rule, text.chars().count())
            }
            "pattern" => self.shared.matches(rule.as_str().unwrap_or_default(), text)?.unwrap_or(true),
            _ => true,
        };
        Ok(fits || self.fail(report, keyword, || words::bound(keyword, rule)))
    }

    /// Tells whether nothing more needs to be looked at.
    fn is_done(&self, fits: bool, report: bool) -> bool {
        !fits && (!report || self.failures.len() >= limits::MAX_SCHEMA_FAILURES)
    }

    /// Checks a part of the present value.
    fn part(&mut self, step: PathStep<'v>, schema: &'s Value, value: &'v Value, report: bool) -> Result<bool> {
        self.place.push(step);
        let fits = self.check(schema, value, report);
        self.place.pop();
        fits
    }

    /// Notes a difference, if differences are wanted; the answer is always no.
    fn fail(&mut self, report: bool, keyword: &str, expected: impl FnOnce() -> String) -> bool {
        if report && self.failures.len() < limits::MAX_SCHEMA_FAILURES {
            let path = self.place.iter().fold(String::new(), |path, step| match step {
                // Names come from the value too.
                PathStep::Key(name) => pointer(&path, &truncate(name, 80)),
                PathStep::Index(index) => format!("{path}/{index}"),
            });
            // A model reads them: neither names of its own nor values of the schema may bring a credential along.
            let [path, expected] = [path, expected()].map(|text| redact_id(&text).into_owned());
            self.failures.push(SchemaMismatch { path, keyword: keyword.to_owned(), expected });
        }
        false
    }
}

/// Compiles a pattern of the schema, or warns that it cannot be used.
fn compile<'s>(patterns: &mut Patterns<'s>, text: &'s str, warn: &mut dyn FnMut(&'static str, String)) {
    let pattern = Pattern::expression(text, Dialect::Whole, false).ok();
    if pattern.is_none() {
        warn("unsupported_pattern", format!("the pattern {} is not enforced", quote(text)));
    }
    patterns.insert(text, pattern);
}

#[cfg(test)]
mod tests;
