//! The contract about a choice: what a model may answer, and what its answer means.

use serde::Serialize;
use serde_json::{Value, json};

use super::names::is_name_char;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_text::quote::quote;
use contextweaver_text::unicode::trim;

/// Who takes a schema of the answer, and how they want it.
const PROVIDERS: &[&str] = &["json_schema", "openai", "anthropic", "gemini"];

/// Characters of an answer that may stand for a longer id.
const LEAST_PREFIX: usize = 4;

/// How the schema of an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SelectionSchemaOptions<'a> {
    /// One of `json_schema`, `openai` (a response format), `anthropic` (a tool) and `gemini` (a part of the generation
    /// settings).
    pub provider: &'a str,
    /// The property that holds the chosen id.
    pub property_name: &'a str,
    /// The name of the schema: 1 to 64 letters, digits, `_` and `-`.
    pub schema_name: &'a str,
    /// What the description for `anthropic` asks for; the property's name unless given.
    pub described_as: Option<&'a str>,
}

impl Default for SelectionSchemaOptions<'_> {
    fn default() -> Self {
        Self { provider: "json_schema", property_name: "tool_id", schema_name: "tool_selection", described_as: None }
    }
}

/// Returns the schema of an answer that names one of the candidates.
///
/// # Errors
///
/// Fails with `INVALID_INPUT` for an unknown provider or a name it would refuse, and `NO_CANDIDATES` when there is
/// nothing to choose from.
///
/// # Examples
///
/// ```
/// use contextweaver_routing::{SelectionSchemaOptions, selection_schema};
/// use serde_json::json;
///
/// let schema = selection_schema(["files.read", "mail.send"].into_iter(), &SelectionSchemaOptions::default())?;
/// assert_eq!(schema["properties"]["tool_id"]["enum"], json!(["files.read", "mail.send"]));
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn selection_schema<'a>(
    candidates: impl Iterator<Item = &'a str>,
    options: &SelectionSchemaOptions,
) -> Result<Value> {
    let SelectionSchemaOptions { provider, property_name, schema_name, described_as } = *options;
    if !PROVIDERS.contains(&provider) {
        let message = format!("no provider is called {}", quote(provider));
        let hint = format!("one of {}", PROVIDERS.join(", "));
        return Err(Error::new(ErrorCode::InvalidInput, message).at("/provider").hint(hint));
    }
    let is_name = (1..=64).contains(&schema_name.len()) && schema_name.chars().all(is_name_char);
    if !is_name {
        let message = format!("{} is no name of a schema", quote(schema_name));
        let hint = "1 to 64 letters, digits, _ and -";
        return Err(Error::new(ErrorCode::InvalidInput, message).at("/schema_name").hint(hint));
    }
    let ids = distinct(candidates);
    if ids.is_empty() {
        return Err(Error::new(ErrorCode::NoCandidates, "there is no tool to choose from"));
    }
    let mut schema = json!({
        "type": "object",
        "properties": { property_name: { "type": "string", "enum": ids } },
        "required": [property_name],
        "additionalProperties": false,
    });
    Ok(match provider {
        "openai" => json!({
            "type": "json_schema",
            "json_schema": { "name": schema_name, "strict": true, "schema": schema },
        }),
        "anthropic" => {
            let named = described_as.unwrap_or(property_name);
            let description = format!("Select exactly one {named} from the routed candidates.");
            json!({ "name": schema_name, "description": description, "input_schema": schema })
        }
        "gemini" => {
            if let Some(schema) = schema.as_object_mut() {
                schema.shift_remove("additionalProperties");
            }
            json!({ "responseMimeType": "application/json", "responseSchema": schema })
        }
        _ => schema,
    })
}

/// Returns ids in their order, each once.
fn distinct<'a>(ids: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let ids: Vec<&str> = ids.collect();
    let mut order: Vec<usize> = (0..ids.len()).collect();
    contextweaver_base::order::sort_by(&mut order, |a, b| ids[*a].cmp(ids[*b]));
    order.dedup_by(|later, first| ids[*later] == ids[*first]);
    contextweaver_base::order::sort(&mut order);
    order.into_iter().map(|at| ids[at]).collect()
}

/// What an answer means.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct SelectionValidation {
    /// `accepted`, `repaired` or `rejected`.
    pub status: String,
    /// The candidate that is meant.
    pub selected_id: Option<String>,
    /// The answer as it came.
    pub raw_id: String,
    /// `strip`, `provider_name`, `case_fold` or `prefix`.
    pub repair: Option<String>,
    /// `empty_selection`, `not_a_candidate`, `ambiguous_case_fold`, `ambiguous_prefix` or `destructive_prefix`.
    pub reason: Option<String>,
}

/// Finds the tool of a name that was given to a provider.
pub type ResolveName<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// How an answer is read.
#[derive(Clone, Copy)]
pub struct ValidateOptions<'a> {
    /// Whether an answer that is not exact may be repaired; white space around it may in any case.
    pub repair: bool,
    /// Tells what a provider's name of a tool stands for.
    pub resolve: Option<&'a ResolveName<'a>>,
    /// Tells whether a tool destroys something: such a tool is never guessed from the beginning of its id.
    pub is_destructive: Option<&'a dyn Fn(&str) -> bool>,
}

impl Default for ValidateOptions<'_> {
    fn default() -> Self {
        Self { repair: true, resolve: None, is_destructive: None }
    }
}

/// Finds the candidate that an answer names: exactly, without white space around it, by the name given to a provider,
/// in other letter case, or by its beginning.
///
/// A beginning is four characters or more and ends where a segment of the id ends, no other candidate has it, and the
/// tool is not destructive. What is selected is always one of the candidates.
///
/// # Examples
///
/// ```
/// use contextweaver_routing::{ValidateOptions, validate_selection};
///
/// let candidates = ["files.read", "mail.send"];
/// let validate = |answer| validate_selection(Some(answer), &candidates, &ValidateOptions::default());
/// assert_eq!(validate("mail.send").status, "accepted");
/// let repaired = validate("Mail.Send");
/// assert_eq!((repaired.selected_id.as_deref(), repaired.repair.as_deref()), (Some("mail.send"), Some("case_fold")));
/// assert_eq!(validate("mail.delete").status, "rejected");
/// ```
pub fn validate_selection(
    selected: Option<&str>,
    candidates: &[&str],
    options: &ValidateOptions,
) -> SelectionValidation {
    let raw = selected.unwrap_or_default();
    let answer = |status: &str, id: Option<&str>, repair: Option<&str>, reason: Option<&str>| SelectionValidation {
        status: status.to_owned(),
        selected_id: id.map(str::to_owned),
        raw_id: raw.to_owned(),
        repair: repair.map(str::to_owned),
        reason: reason.map(str::to_owned),
    };
    let rejected = |reason| answer("rejected", None, None, Some(reason));
    let repaired = |id, how| answer("repaired", Some(id), Some(how), None);
    let wanted = trim(raw);
    if wanted.is_empty() {
        return rejected("empty_selection");
    }
    if let Some(id) = candidates.iter().find(|id| **id == wanted) {
        return if wanted == raw { answer("accepted", Some(id), None, None) } else { repaired(id, "strip") };
    }
    if !options.repair {
        return rejected("not_a_candidate");
    }
    let named = options.resolve.and_then(|resolve| resolve(wanted));
    if let Some(id) = named.and_then(|named| candidates.iter().find(|id| **id == named)) {
        return repaired(id, "provider_name");
    }
    let distinct = distinct(candidates.iter().copied());
    let folded = wanted.to_lowercase();
    let lower: Vec<String> = distinct.iter().map(|id| id.to_lowercase()).collect();
    let only = |holds: &dyn Fn(&str) -> bool| {
        let mut found = (0..lower.len()).filter(|at| holds(&lower[*at]));
        (found.next(), found.next().is_some())
    };
    match only(&|id| id == folded) {
        (Some(at), false) => return repaired(distinct[at], "case_fold"),
        (Some(_), true) => return rejected("ambiguous_case_fold"),
        (None, _) => {}
    }
    let (Some(at), more) = only(&|id| id.starts_with(&folded)) else {
        return rejected("not_a_candidate");
    };
    let is_short = folded.chars().count() < LEAST_PREFIX || !ends_a_segment(&folded, &lower[at]);
    if more {
        rejected("ambiguous_prefix")
    } else if is_short {
        rejected("not_a_candidate")
    } else if options.is_destructive.is_some_and(|is_destructive| is_destructive(distinct[at])) {
        rejected("destructive_prefix")
    } else {
        repaired(distinct[at], "prefix")
    }
}

/// Tells whether a beginning of an id ends where one of its segments does.
fn ends_a_segment(beginning: &str, id: &str) -> bool {
    let separates = |ch: char| !ch.is_alphanumeric();
    beginning.ends_with(separates) || id[beginning.len()..].starts_with(separates)
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDS: &[&str] = &["billing.invoices.get", "billing.delete_everything", "crm.deals", "Crm.Deals", "admin.x"];

    fn read(answer: &str) -> (String, Option<String>) {
        let options = ValidateOptions {
            resolve: Some(&|name| (name == "billing_invoices_get").then(|| "billing.invoices.get".to_owned())),
            is_destructive: Some(&|id| id.contains("delete")),
            ..ValidateOptions::default()
        };
        let found = validate_selection(Some(answer), IDS, &options);
        (found.repair.or(found.reason).unwrap_or(found.status), found.selected_id)
    }

    #[test]
    fn answers_are_repaired_where_only_one_thing_can_be_meant() {
        let cases = [
            ("crm.deals", "accepted", Some("crm.deals")),
            ("CRM.DEALS", "ambiguous_case_fold", None),
            (" admin.x\u{3000}", "strip", Some("admin.x")),
            ("billing_invoices_get", "provider_name", Some("billing.invoices.get")),
            ("billing.invoices", "prefix", Some("billing.invoices.get")),
            ("billing.invoices.", "prefix", Some("billing.invoices.get")),
            ("billing.inv", "not_a_candidate", None),
            ("admin", "prefix", Some("admin.x")),
            ("adm", "not_a_candidate", None),
            ("b", "ambiguous_prefix", None),
            ("billing.delete", "destructive_prefix", None),
            ("\n", "empty_selection", None),
            ("nope", "not_a_candidate", None),
        ];
        for (answer, how, id) in cases {
            assert_eq!(read(answer), (how.to_owned(), id.map(str::to_owned)), "{answer}");
        }
    }

    #[test]
    fn names_that_a_provider_refuses_are_refused() {
        let schema = |options: SelectionSchemaOptions| selection_schema(["a", "b", "a"].into_iter(), &options);
        let gemini =
            schema(SelectionSchemaOptions { provider: "gemini", ..SelectionSchemaOptions::default() }).unwrap();
        assert_eq!(gemini["responseSchema"]["properties"]["tool_id"]["enum"], json!(["a", "b"]));
        assert!(gemini["responseSchema"].get("additionalProperties").is_none());
        let anthropic = SelectionSchemaOptions {
            provider: "anthropic",
            property_name: "pick",
            ..SelectionSchemaOptions::default()
        };
        assert_eq!(schema(anthropic).unwrap()["description"], "Select exactly one pick from the routed candidates.");
        for options in [
            SelectionSchemaOptions { schema_name: "with space", ..SelectionSchemaOptions::default() },
            SelectionSchemaOptions { provider: "unknown", ..SelectionSchemaOptions::default() },
        ] {
            assert_eq!(schema(options).unwrap_err().code(), ErrorCode::InvalidInput);
        }
    }
}
