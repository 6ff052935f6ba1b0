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
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::Warning;
use contextweaver_model::json::{JsonMap, pointer};
use contextweaver_text::pattern::{Dialect, Pattern};
use contextweaver_text::unicode::{quote, truncate};

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
/// `remote_ref` or `schema_too_large`.
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
    let mut checker = SchemaChecker::new(schema);
    let warnings = checker.survey(path)?;
    let filled = use_defaults.then(|| defaults::filled(schema, value)).transpose().map_err(|error| error.at(path))?;
    let valid = checker.check(schema, filled.as_ref().unwrap_or(value), true).map_err(|error| error.at(path))?;
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

struct SchemaChecker<'s, 'v> {
    root: &'s Value,
    /// Every pattern of the schema; nothing for one that cannot be used.
    patterns: SortedMap<&'s str, Option<Pattern>>,
    failures: Vec<SchemaMismatch>,
    place: Vec<PathStep<'v>>,
    depth: usize,
    steps: usize,
}

impl<'s, 'v> SchemaChecker<'s, 'v> {
    fn new(root: &'s Value) -> Self {
        let patterns = SortedMap::new();
        Self { root, patterns, failures: Vec::new(), place: Vec::new(), depth: 0, steps: 0 }
    }

    /// Looks for what cannot be enforced.
    fn survey(&mut self, path: &str) -> Result<Vec<Warning>> {
        let mut warnings = Vec::new();
        let root = self.root;
        let patterns = &mut self.patterns;
        each_schema(root, path, &mut |map, at| {
            for (key, value) in map {
                let mut warn = |code, message: String| warnings.push(Warning::new(code, message, pointer(at, key)));
                match (key.as_str(), value) {
                    (name, _) if UNSUPPORTED.contains(&name) => {
                        warn("unsupported_keyword", format!("`{name}` is not enforced"));
                    }
                    ("$ref", Value::String(text)) if resolve(root, text).is_none() => {
                        warn("unresolved_ref", format!("{} leads nowhere and is not enforced", quote(text)));
                    }
                    ("pattern", Value::String(text)) => compile(patterns, text, &mut warn),
                    ("patternProperties", Value::Object(map)) => {
                        map.keys().for_each(|text| compile(patterns, text, &mut warn));
                    }
                    _ => {}
                }
            }
            Ok(())
        })?;
        Ok(warnings)
    }

    /// Counts work, and gives up on a schema that makes too much of it.
    fn spend(&mut self, steps: usize) -> Result<()> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps <= limits::MAX_SCHEMA_STEPS {
            return Ok(());
        }
        let message = format!("checking takes more than {} steps", limits::MAX_SCHEMA_STEPS);
        Err(Error::new(ErrorCode::TooLarge, message).detail("reason", "schema_too_large"))
    }

    /// Tells whether a value fits a schema; with `report`, names the differences.
    fn check(&mut self, schema: &'s Value, value: &'v Value, report: bool) -> Result<bool> {
        self.spend(1)?;
        let map = match schema {
            Value::Object(map) => map,
            Value::Bool(false) => return Ok(self.fail(report, "false", || "nothing".to_owned())),
            _ => return Ok(true),
        };
        if self.depth >= limits::MAX_SCHEMA_DEPTH {
            let message = format!("schemas within schemas apply more than {} levels deep", limits::MAX_SCHEMA_DEPTH);
            return Err(Error::new(ErrorCode::TooDeep, message).detail("reason", "schema_too_large"));
        }
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
            ("const", _) => {
                Ok(values::same(rule, value)
                    || self.fail(report, keyword, || words::one_of(std::slice::from_ref(rule))))
            }
            ("enum", _) => {
                let all = rule.as_array().map_or(&[][..], Vec::as_slice);
                self.spend(all.len())?;
                let known = !rule.is_array() || all.iter().any(|one| values::same(one, value));
                Ok(known || self.fail(report, keyword, || words::one_of(all)))
            }
            ("$ref", _) => match rule.as_str().and_then(|text| resolve(self.root, text)) {
                Some(target) => self.check(target, value, report),
                None => Ok(true),
            },
            ("allOf" | "anyOf" | "oneOf" | "not" | "if", _) => self.combined(schema, keyword, rule, value, report),
            (_, Value::String(text)) => self.string(keyword, rule, text, report),
            (_, Value::Number(number)) => Ok(values::number_fits(keyword, rule, number)
                || self.fail(report, keyword, || words::bound(keyword, rule))),
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

    fn string(&mut self, keyword: &'s str, rule: &'s Value, text: &'v str, report: bool) -> Result<bool> {
        let fits = match keyword {
            "minLength" | "maxLength" => values::count_fits(keyword == "minLength", rule, text.chars().count()),
            "pattern" => self.matches(rule.as_str().unwrap_or_default(), text)?.unwrap_or(true),
            _ => true,
        };
        Ok(fits || self.fail(report, keyword, || words::bound(keyword, rule)))
    }

    /// Tells whether a text matches a pattern; nothing if the pattern cannot be used.
    fn matches(&mut self, pattern: &str, text: &str) -> Result<Option<bool>> {
        let steps = match self.patterns.get(pattern) {
            Some(Some(pattern)) => pattern.steps(text.len()),
            _ => return Ok(None),
        };
        // A step of a pattern is short.
        self.spend(steps / 64)?;
        let pattern = self.patterns.get(pattern).and_then(Option::as_ref);
        Ok(pattern.map(|pattern| pattern.find(text, 0).is_some()))
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
            self.failures.push(SchemaMismatch { path, keyword: keyword.to_owned(), expected: expected() });
        }
        false
    }
}

/// Compiles a pattern of the schema, or warns that it cannot be used.
fn compile<'s>(
    patterns: &mut SortedMap<&'s str, Option<Pattern>>,
    text: &'s str,
    warn: &mut dyn FnMut(&'static str, String),
) {
    let pattern = Pattern::expression(text, Dialect::Whole, false).ok();
    if pattern.is_none() {
        warn("unsupported_pattern", format!("the pattern {} is not enforced", quote(text)));
    }
    patterns.insert(text, pattern);
}

#[cfg(test)]
mod tests;
