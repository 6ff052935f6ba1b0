//! What is wrong with a tool or looks it, under stable codes.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::Fields;
use contextweaver_text::quote::quote;
use contextweaver_text::redact::{mask_secrets, redact_id};
use contextweaver_text::unicode::{sanitize, truncate};

/// Severities of findings, the worst first.
pub const SEVERITIES: &[&str] = &["error", "warning", "info"];

/// Characters of the evidence that is shown.
const EVIDENCE_CHARS: usize = 160;

/// Every code of a finding, its severity, and what it says.
pub const RULES: &[(&str, &str, &str)] = &[
    ("tool-invalid", "error", "the record is no usable tool and is left out"),
    ("field-ignored", "warning", "a field of the tool is not what the protocol says and was ignored"),
    ("duplicate-id", "error", "another tool has the same id; the first one is kept, the others cannot be reached"),
    ("reference-unknown", "warning", "`depends_on` names no tool, or `requires` what no tool provides"),
    ("name-collision", "warning", "another tool has the same name"),
    (
        "name-collision-sanitised",
        "error",
        "two names become the same where only `A-Z a-z 0-9 _ -` and 64 characters are allowed",
    ),
    ("name-confusable", "warning", "two names look the same but are written differently"),
    ("name-near", "info", "two names differ in one place only, or in case and joints"),
    ("description-near", "warning", "two descriptions say almost the same"),
    ("name-too-long", "error", "the name has more than 64 characters, which providers refuse"),
    ("name-characters", "warning", "the name has characters that providers refuse"),
    ("description-missing", "error", "there is no description"),
    ("description-short", "warning", "the description says too little to choose by"),
    ("description-long", "warning", "the description is longer than models need"),
    ("text-invisible", "error", "the text hides or reorders characters"),
    ("text-control", "error", "the text has control or terminal escape sequences"),
    ("text-instruction", "warning", "the text seems to give the model orders (a heuristic)"),
    ("text-secret", "error", "the text seems to hold a credential"),
    ("schema-not-object", "error", "the arguments are no object"),
    ("schema-no-type", "info", "the schema or a property of it has no type"),
    ("schema-required-unknown", "error", "a required argument is not described"),
    ("schema-malformed", "error", "a part of the schema is no JSON Schema"),
    ("schema-earlier-draft", "info", "a part of the schema is written as in a draft before 2020-12"),
    ("schema-unportable", "warning", "a part of the schema is refused by some clients or providers"),
    ("safety-contradiction", "error", "what is said about the effects of the tool contradicts itself"),
    ("hint-malformed", "warning", "a hint about the effects of the tool is neither true nor false"),
    ("metadata-reserved", "warning", "the reserved part of the metadata cannot be read"),
    ("pin-changed", "error", "the tool is not what was pinned"),
    ("pin-missing", "warning", "a pinned tool is not there"),
    ("pin-new", "warning", "the tool was not there when the others were pinned"),
];

/// One finding about a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct CatalogFinding {
    /// Stable, such as `duplicate-id` or `text-invisible`.
    pub code: &'static str,
    /// How bad it is.
    #[cfg_attr(feature = "ts", ts(type = "\"error\" | \"warning\" | \"info\""))]
    pub severity: &'static str,
    /// The tool; empty when it has no id.
    pub item_id: String,
    /// Place in the list it came in, for a tool that was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub index: Option<usize>,
    /// JSON pointer of the field within the tool.
    pub path: String,
    /// The finding as a sentence.
    pub message: String,
    /// What was found, made safe to show.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[cfg_attr(feature = "ts", ts(optional, as = "Option<String>"))]
    pub evidence: String,
}

impl CatalogFinding {
    /// Makes a finding; the table gives its severity and its sentence.
    pub fn new(code: &'static str, item_id: &str, path: impl Into<String>) -> Self {
        let (_, severity, message) = RULES.iter().find(|rule| rule.0 == code).unwrap_or(&RULES[0]);
        Self {
            code,
            severity,
            item_id: item_id.to_owned(),
            index: None,
            path: redact_id(&path.into()).into_owned(),
            message: (*message).to_owned(),
            evidence: String::new(),
        }
    }

    /// Reads what was written of a finding.
    ///
    /// # Errors
    ///
    /// Fails with `INVALID_INPUT` when the code is none of [`RULES`].
    pub fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        let code = fields.string("code")?;
        let rule = RULES.iter().find(|rule| rule.0 == code);
        let (code, severity, _) = rule.ok_or_else(|| {
            Error::new(ErrorCode::InvalidInput, format!("{} is no code of a finding", quote(&code)))
                .at(fields.at("code"))
        })?;
        Ok(Self {
            code,
            severity,
            item_id: fields.string("item_id")?,
            index: fields.opt_uint("index", u64::from(u32::MAX))?.map(|index| index as usize),
            path: fields.string("path")?,
            message: fields.string("message")?,
            evidence: fields.string_or("evidence", "")?,
        })
    }

    /// Says where in a list the record was.
    #[must_use]
    pub fn index(mut self, index: usize) -> Self {
        self.index = Some(index);
        self
    }

    /// Replaces the sentence.
    #[must_use]
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    /// Adds what was found, cut and made safe to show.
    #[must_use]
    pub fn evidence(mut self, text: &str) -> Self {
        // Secrets are masked before anything is cut, and sanitising makes a text longer, so it is cut twice.
        let masked = mask_secrets(text);
        self.evidence = truncate(&sanitize(&truncate(&masked, EVIDENCE_CHARS)), 2 * EVIDENCE_CHARS);
        self
    }
}

impl<'de> Deserialize<'de> for CatalogFinding {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        Self::from_value(Value::deserialize(deserializer)?, "").map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_distinct_and_severities_known() {
        for (place, rule) in RULES.iter().enumerate() {
            assert!(SEVERITIES.contains(&rule.1) && RULES[..place].iter().all(|other| other.0 != rule.0), "{}", rule.0);
        }
    }
}
