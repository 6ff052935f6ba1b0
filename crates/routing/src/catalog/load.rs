//! Reading tools that others wrote: one bad tool does not keep the others out.

use serde_json::Value;

use super::Catalog;
use super::finding::CatalogFinding;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::SelectableItem;
use contextweaver_model::json::{JsonMap, parse_float, wrong_type};
use contextweaver_text::quote::quote;
use contextweaver_text::unicode::trim;

/// What happens to tools that cannot be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum InvalidTools {
    /// They are left out and reported.
    #[default]
    Report,
    /// They, and dependencies that no tool provides, are an error; nothing is loaded.
    Raise,
}

impl InvalidTools {
    /// Reads `report`, with `warn` and `ignore` as other words for it, or `raise`.
    ///
    /// # Errors
    ///
    /// `INVALID_INPUT` for any other name.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "report" | "warn" | "ignore" => Ok(Self::Report),
            "raise" => Ok(Self::Raise),
            other => Err(Error::new(ErrorCode::InvalidInput, format!("{} is no way to load tools", quote(other)))
                .hint("one of: report raise")),
        }
    }
}

/// A catalog read from foreign input, with findings about it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LoadedCatalog {
    /// The tools that could be read.
    pub catalog: Catalog,
    /// Tools left out, and dependencies that no tool provides.
    pub findings: Vec<CatalogFinding>,
}

/// Reads a list of tools, or an object with `items`. Of tools with the same id, the first is kept.
///
/// # Errors
///
/// Fails with `INVALID_INPUT` for what is no list, and with [`InvalidTools::Raise`] as [`LoadedCatalog::raise`] does.
///
/// # Examples
///
/// ```
/// use contextweaver_routing::{InvalidTools, load_catalog};
/// use serde_json::json;
///
/// let good = json!({ "id": "mail.send", "kind": "tool", "name": "send_mail", "description": "Send an email." });
/// let loaded = load_catalog(json!([good, { "id": 7 }]), InvalidTools::Report)?;
/// assert_eq!(loaded.catalog.len(), 1);
/// assert_eq!((loaded.findings[0].code, loaded.findings[0].index), ("tool-invalid", Some(1)));
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn load_catalog(value: Value, on_invalid: InvalidTools) -> Result<LoadedCatalog> {
    let (list, base) = match value {
        Value::Array(list) => (list, ""),
        Value::Object(mut map) => match map.shift_remove("items") {
            Some(Value::Array(list)) => (list, "/items"),
            None => (Vec::new(), "/items"),
            Some(other) => return Err(wrong_type("/items", "an array", &other)),
        },
        other => return Err(wrong_type("", "an array of tools", &other)),
    };
    let mut loaded = LoadedCatalog::default();
    for (index, value) in list.into_iter().enumerate() {
        loaded.add(index, value, |value| read_tool(value, ""));
    }
    for missing in loaded.catalog.check_dependencies().findings {
        let finding = CatalogFinding::new("reference-unknown", &missing.item_id, format!("/{}", missing.field));
        loaded.findings.push(finding.evidence(&missing.missing));
    }
    if on_invalid == InvalidTools::Raise {
        loaded.raise(base)?;
    }
    Ok(loaded)
}

impl LoadedCatalog {
    /// Reads one record and registers the tool, or says why not; returns the id.
    pub(crate) fn add(
        &mut self,
        index: usize,
        value: Value,
        read: impl FnOnce(Value) -> Result<SelectableItem>,
    ) -> Option<String> {
        let id = ["id", "name"].iter().find_map(|key| value.get(key)?.as_str()).unwrap_or("").to_owned();
        let found = match read(value) {
            Ok(item) if self.catalog.contains(&item.id) => CatalogFinding::new("duplicate-id", &item.id, "/id"),
            Ok(item) => {
                let registered = item.id.clone();
                match self.catalog.register(item) {
                    Ok(()) => return Some(registered),
                    Err(error) => invalid(&id, &error),
                }
            }
            Err(error) => invalid(&id, &error),
        };
        self.findings.push(found.index(index));
        None
    }

    ///
    /// # Errors
    ///
    /// Fails with the first finding that is about more than a field, all of them as details; `base` is the path of the
    /// list.
    pub fn raise(&self, base: &str) -> Result<()> {
        let Some(first) = self.findings.iter().find(|found| found.code != "field-ignored") else { return Ok(()) };
        let code = if first.code == "duplicate-id" { ErrorCode::DuplicateId } else { ErrorCode::InvalidInput };
        let path = first.index.map_or(String::new(), |index| format!("{base}/{index}{}", first.path));
        let about = if first.item_id.is_empty() { String::new() } else { format!("tool {}: ", quote(&first.item_id)) };
        let findings = serde_json::to_value(&self.findings).unwrap_or_default();
        let error = Error::new(code, format!("{about}{}", first.message)).at(path);
        Err(error.detail("finding", first.code).detail("findings", findings))
    }
}

fn invalid(id: &str, error: &Error) -> CatalogFinding {
    CatalogFinding::new("tool-invalid", id, error.path()).message(error.message()).evidence(error.code().as_str())
}

/// Reads one tool. Numbers written as text are taken as cost, null only where there may be no value.
fn read_tool(mut value: Value, path: &str) -> Result<SelectableItem> {
    if let Value::Object(map) = &mut value {
        ready(map, path)?;
    }
    SelectableItem::from_value(value, path)
}

fn ready(map: &mut JsonMap, path: &str) -> Result<()> {
    for key in ["tags", "args_schema", "examples", "constraints", "cost_hint", "metadata"] {
        if map.get(key).is_some_and(Value::is_null) {
            return Err(wrong_type(&format!("{path}/{key}"), "a value", &Value::Null));
        }
    }
    for key in ["depends_on", "provides", "requires"] {
        if map.get(key).is_some_and(Value::is_null) {
            map.shift_remove(key);
        }
    }
    let number = map.get("cost_hint").and_then(Value::as_str).and_then(|text| parse_float(trim(text)));
    if let Some(number) = number.filter(|number| number.is_finite()) {
        map.insert("cost_hint".to_owned(), number.into());
    }
    Ok(())
}
