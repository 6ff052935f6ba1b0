//! What was called before, and what that means for what to call next.

use serde::Serialize;
use serde_json::Value;

use crate::Catalog;
use crate::cards::ToolNames;
use contextweaver_base::Result;
use contextweaver_base::order::{SortedMap, WordSet, sort_by};
use contextweaver_model::json::{Fields, JsonMap, Record, as_number, as_uint, parse_float};
use contextweaver_model::{ContextItem, ItemKind, SelectableItem};
use contextweaver_text::unicode::prefix;

/// Added when everything a tool requires has been provided.
const SATISFIED_BOOST: f64 = 0.2;
/// Taken off when a tool to be called before has not been called.
const UNSATISFIED_PENALTY: f64 = 0.2;
/// Code points of the last result that count.
const SUMMARY_CHARS: usize = 500;

/// What was called before, and how much that weighs. Numbers may be given in text, as 0.18 takes them.
///
/// # Examples
///
/// ```
/// # use contextweaver_routing::Catalog;
/// # use serde_json::json;
/// # let catalog = Catalog::from_value(json!({ "items": [
/// #     { "id": "files.read", "kind": "tool", "name": "read_file", "description": "Read a file from the disk." },
/// #     { "id": "mail.send", "kind": "tool", "name": "send_mail", "description": "Send an email to a person." },
/// # ] }), "")?;
///
/// use contextweaver_routing::{RouteHistory, RouteOptions, Router, RouterOptions};
///
/// let history = RouteHistory::from_value(json!({ "called_tool_ids": ["files.read"] }), "")?;
/// let mut router = Router::new(catalog, RouterOptions::default());
/// let options = RouteOptions { history: Some(history), ..RouteOptions::default() };
/// // A tool that was called before counts less.
/// let result = router.route("read a file", &options)?;
/// assert!(result.history_adjustments["files.read"].as_f64().is_some_and(|delta| delta < 0.0));
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Record)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[record(default)]
pub struct RouteHistory {
    /// Ids of the tools called, in order.
    pub called_tool_ids: Vec<String>,
    /// What the last of them returned, in short.
    pub last_result_summary: Option<String>,
    /// Steps taken, with this one.
    #[cfg_attr(feature = "ts", ts(type = "number"))]
    #[record(with = step_number)]
    pub step_number: u64,
    /// Factor of the score of a tool called before.
    #[record(with = number)]
    pub repeat_penalty: f64,
    /// Weight of a tool's similarity to the last result.
    #[record(with = number)]
    pub result_boost_weight: f64,
}

impl Default for RouteHistory {
    fn default() -> Self {
        Self {
            called_tool_ids: Vec::new(),
            last_result_summary: None,
            step_number: 1,
            repeat_penalty: 0.5,
            result_boost_weight: 0.3,
        }
    }
}

fn number(fields: &mut Fields, key: &'static str, base: f64) -> Result<f64> {
    match fields.take(key).map(number_in_text) {
        None => Ok(base),
        Some(value) => as_number(&value, &fields.at(key), f64::MIN, f64::MAX),
    }
}

fn step_number(fields: &mut Fields, key: &'static str, base: u64) -> Result<u64> {
    match fields.take(key).map(number_in_text) {
        None => Ok(base),
        Some(value) => as_uint(&value, &fields.at(key), 1 << 53),
    }
}

impl RouteHistory {
    /// Reads the history off an event log, nothing when no tool has answered yet.
    ///
    /// The called are named as the log names them: by the function of the result or its call, else by the id of the
    /// call or the result. [`RouteHistory::resolve`] makes ids of names.
    pub fn from_log(items: &[ContextItem]) -> Option<Self> {
        let last = items.iter().rfind(|item| item.kind == ItemKind::ToolResult)?;
        let mut by_id: SortedMap<&str, &ContextItem> = SortedMap::new();
        for item in items {
            by_id.insert(&item.id, item);
        }
        let (mut called, mut seen) = (Vec::new(), SortedMap::new());
        for result in items.iter().filter(|item| item.kind == ItemKind::ToolResult) {
            let call = result.parent_id.as_deref().filter(|id| !id.is_empty());
            let function = |item: &ContextItem| item.metadata_str("function_name").map(str::to_owned);
            let name = function(result)
                .or_else(|| function(by_id.get(call?)?))
                .unwrap_or_else(|| call.unwrap_or(&result.id).to_owned());
            if seen.insert(name.clone(), ()).is_none() {
                called.push(name);
            }
        }
        Some(Self {
            step_number: called.len() as u64 + 1,
            called_tool_ids: called,
            last_result_summary: Some(prefix(&last.text, SUMMARY_CHARS).to_owned()).filter(|text| !text.is_empty()),
            ..Self::default()
        })
    }

    /// Replaces the names of called tools by their ids; a name that could be several tools, or none, stays.
    pub fn resolve(&mut self, tools: &CalledTools) {
        for called in &mut self.called_tool_ids {
            if let Some(id) = tools.id_of(called) {
                id.clone_into(called);
            }
        }
    }

    /// Adjusts scores: repeats cost, likeness to the last result and satisfied requirements help, missing steps cost.
    ///
    /// Returns them sorted by falling score, then id, and what changed.
    pub fn adjust<'a>(
        &self,
        scored: Vec<(String, f64)>,
        tool: &dyn Fn(&str) -> Option<&'a SelectableItem>,
        similarity: &dyn Fn(&str) -> Option<f64>,
    ) -> (Vec<(String, f64)>, ScoreDeltas) {
        let called = WordSet::new(self.called_tool_ids.clone());
        let known = called.words().iter().filter_map(|id| tool(id));
        let provided = WordSet::new(known.flat_map(|item| item.provides.iter().flatten().cloned()).collect());
        let mut deltas = ScoreDeltas::new();
        let mut adjusted = scored;
        for (id, score) in &mut adjusted {
            let before = *score;
            if called.contains(id) {
                *score = if *score < 0.0 { *score * (2.0 - self.repeat_penalty) } else { *score * self.repeat_penalty };
            }
            *score += similarity(id).map_or(0.0, |similarity| self.result_boost_weight * similarity);
            let (requires, depends_on) =
                tool(id).map_or((None, None), |item| (item.requires.as_ref(), item.depends_on.as_ref()));
            if requires.is_some_and(|list| !list.is_empty() && list.iter().all(|word| provided.contains(word))) {
                *score += SATISFIED_BOOST;
            }
            if depends_on.is_some_and(|list| list.iter().any(|id| !called.contains(id))) {
                *score -= UNSATISFIED_PENALTY;
            }
            if *score - before != 0.0 {
                deltas.insert(id.clone(), Value::from(*score - before));
            }
        }
        sort_scored(&mut adjusted);
        (adjusted, deltas)
    }
}

/// What was added to the score of each tool whose score changed.
pub type ScoreDeltas = JsonMap;

/// Sorts by falling score, then id.
pub(super) fn sort_scored(scored: &mut [(String, f64)]) {
    sort_by(scored, |a, b| b.1.partial_cmp(&a.1).unwrap_or(std::cmp::Ordering::Equal).then_with(|| a.0.cmp(&b.0)));
}

/// Takes a number that is written in text for the number.
fn number_in_text(value: Value) -> Value {
    match value.as_str().and_then(|text| parse_float(contextweaver_text::unicode::trim(text))) {
        Some(number) => Value::from(number),
        None => value,
    }
}

/// The names under which tools may stand in a log.
#[derive(Debug, Clone, Copy)]
pub struct CalledTools<'a> {
    catalog: &'a Catalog,
    given: &'a ToolNames,
}

impl<'a> CalledTools<'a> {
    /// Knows tools by their ids and names, and by those given to a provider.
    pub fn new(catalog: &'a Catalog, given: &'a ToolNames) -> Self {
        Self { catalog, given }
    }

    /// Returns the id of the one tool that a name can be.
    pub fn id_of(&self, name: &str) -> Option<&'a str> {
        if let Some(item) = self.catalog.find(name) {
            return Some(&item.id);
        }
        // What was given to a provider is known for certain; a plain name may be that of several tools.
        if let Some(id) = self.given.find(name) {
            return Some(id);
        }
        let mut named = self.catalog.items().filter(|item| item.name == name);
        let found = named.next()?;
        named.next().is_none().then_some(&found.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tool(value: Value) -> SelectableItem {
        SelectableItem { kind: "tool".to_owned(), ..read(value) }
    }

    fn read(mut value: Value) -> SelectableItem {
        value["kind"] = json!("tool");
        value["description"] = json!("");
        SelectableItem::from_value(value, "").unwrap()
    }

    #[test]
    fn names_in_a_log_become_ids_where_they_are_certain() {
        let tools = [
            tool(json!({"id": "github:create_issue#678543c8", "name": "github.create_issue"})),
            tool(json!({"id": "a.search", "name": "search"})),
            tool(json!({"id": "b.search", "name": "search"})),
            tool(json!({"id": "send", "name": "a.search"})),
        ];
        let given = ToolNames::new(tools.iter().map(|tool| (tool.id.as_str(), tool.name.as_str())));
        let mut catalog = Catalog::new();
        catalog.register_all(tools.into()).unwrap();
        let called = CalledTools::new(&catalog, &given);
        let mut history = RouteHistory {
            called_tool_ids: ["github.create_issue", "search", "b_search", "a.search", "ghost"]
                .map(str::to_owned)
                .into(),
            ..RouteHistory::default()
        };
        history.resolve(&called);
        let wanted = ["github:create_issue#678543c8", "search", "b.search", "a.search", "ghost"];
        assert_eq!(history.called_tool_ids, wanted);
    }

    #[test]
    fn a_repeat_costs_below_zero_too() {
        let history = RouteHistory { called_tool_ids: vec!["a".to_owned()], ..RouteHistory::default() };
        let adjust = |score| {
            let scored = vec![("a".to_owned(), score), ("b".to_owned(), score)];
            history.adjust(scored, &|_| None, &|_| None).0
        };
        assert_eq!((adjust(-0.2)[0].0.as_str(), adjust(0.2)[0].0.as_str()), ("b", "b"));
        assert!((adjust(-0.2)[1].1 + 0.3).abs() < 1e-12);
    }
}
