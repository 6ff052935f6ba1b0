//! Who may enter a prompt.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{ItemKind, JsonMap, OverflowAction, Phase, Sensitivity, SensitivityAction};
use crate::json::{Fields, as_string};
use contextweaver_base::Result;
use contextweaver_base::limits;
use contextweaver_base::order::sort_by;

const ROUTE_KINDS: &[ItemKind] = &[ItemKind::UserTurn, ItemKind::PlanState, ItemKind::Policy];
const CALL_KINDS: &[ItemKind] =
    &[ItemKind::UserTurn, ItemKind::AgentMsg, ItemKind::ToolCall, ItemKind::PlanState, ItemKind::Policy];

/// Which items a phase admits, how many of a kind, and what happens to sensitive ones.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ContextPolicy {
    /// Kinds each phase admits; a phase absent from a supplied map admits nothing.
    #[serde(serialize_with = "kinds_per_phase")]
    #[cfg_attr(feature = "ts", ts(as = "std::collections::BTreeMap<Phase, Vec<ItemKind>>"))]
    pub allowed_kinds_per_phase: Vec<(Phase, Vec<ItemKind>)>,
    /// Most items of one kind in a prompt.
    #[serde(serialize_with = "per_kind")]
    #[cfg_attr(feature = "ts", ts(as = "std::collections::BTreeMap<ItemKind, u64>"))]
    pub max_items_per_kind: Vec<(ItemKind, u64)>,
    /// Items at or above this label are dropped or redacted.
    pub sensitivity_floor: Sensitivity,
    /// Which of the two.
    pub sensitivity_action: SensitivityAction,
    /// Names of the hooks that redact, in order; empty means `mask`.
    pub redaction_hooks: Vec<String>,
    /// Whether artifacts of redacted items may be read.
    pub allow_redacted_drilldown: bool,
    /// What happens when items were dropped for the budget.
    pub overflow_action: OverflowAction,
    /// Kinds whose loss counts as overflow; none means every kind.
    pub overflow_raise_kinds: Option<Vec<ItemKind>>,
    /// Anything the caller wants kept.
    pub extra: JsonMap,
}

impl Default for ContextPolicy {
    fn default() -> Self {
        let allowed = [
            (Phase::Route, ROUTE_KINDS),
            (Phase::Call, CALL_KINDS),
            (Phase::Interpret, ItemKind::ALL),
            (Phase::Answer, ItemKind::ALL),
        ];
        Self {
            allowed_kinds_per_phase: allowed.into_iter().map(|(phase, kinds)| (phase, kinds.to_vec())).collect(),
            max_items_per_kind: Vec::new(),
            sensitivity_floor: Sensitivity::Confidential,
            sensitivity_action: SensitivityAction::Drop,
            redaction_hooks: Vec::new(),
            allow_redacted_drilldown: false,
            overflow_action: OverflowAction::Drop,
            overflow_raise_kinds: None,
            extra: JsonMap::new(),
        }
    }
}

impl ContextPolicy {
    /// Returns what the policy of a profile is read over: as where profiles are written, it admits 50 items of each kind.
    pub fn of_profiles() -> Self {
        let cap = limits::PROFILE_ITEMS_PER_KIND as u64;
        Self { max_items_per_kind: ItemKind::ALL.iter().map(|kind| (*kind, cap)).collect(), ..Self::default() }
    }

    /// Reads a policy over the defaults given. Closed options pass `strict`.
    ///
    /// # Errors
    /// `INVALID_INPUT`, `MISSING_FIELD`, `OUT_OF_RANGE` and the like, with the path of the field.
    pub fn from_value(value: Value, path: &str, defaults: Self, strict: bool) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        let allowed_kinds_per_phase = match fields.nested("allowed_kinds_per_phase")? {
            Some(map) => read_kinds_per_phase(map)?,
            None => defaults.allowed_kinds_per_phase,
        };
        let max_items_per_kind = match fields.nested("max_items_per_kind")? {
            Some(map) => {
                let given = read_caps(map)?;
                let mut caps = defaults.max_items_per_kind;
                caps.retain(|(kind, _)| given.iter().all(|(other, _)| other != kind));
                caps.extend(given);
                sort_by(&mut caps, |a, b| a.0.cmp(&b.0));
                caps
            }
            None => defaults.max_items_per_kind,
        };
        let raise_kinds = match fields.take("overflow_raise_kinds") {
            Some(list) => Some(read_kinds(list, &fields.at("overflow_raise_kinds"))?),
            None => None,
        };
        let policy = Self {
            allowed_kinds_per_phase,
            max_items_per_kind,
            sensitivity_floor: fields.parsed_or("sensitivity_floor", defaults.sensitivity_floor, Sensitivity::parse)?,
            sensitivity_action: fields.parsed_or(
                "sensitivity_action",
                defaults.sensitivity_action,
                SensitivityAction::parse,
            )?,
            redaction_hooks: fields.strings("redaction_hooks")?,
            allow_redacted_drilldown: fields.bool_or("allow_redacted_drilldown", false)?,
            overflow_action: fields.parsed_or("overflow_action", defaults.overflow_action, OverflowAction::parse)?,
            overflow_raise_kinds: raise_kinds,
            extra: fields.object("extra")?,
        };
        if strict {
            fields.finish()?;
        }
        Ok(policy)
    }

    /// Tells whether the phase admits the kind.
    pub fn allows(&self, phase: Phase, kind: ItemKind) -> bool {
        self.allowed_kinds(phase).contains(&kind)
    }

    /// Returns the kinds that the phase admits.
    pub fn allowed_kinds(&self, phase: Phase) -> &[ItemKind] {
        self.allowed_kinds_per_phase.iter().find(|(key, _)| *key == phase).map_or(&[], |(_, kinds)| kinds)
    }

    /// Returns the most items of a kind that a prompt may have, if there is such a number.
    pub fn cap_of(&self, kind: ItemKind) -> Option<u64> {
        self.max_items_per_kind.iter().find(|(key, _)| *key == kind).map(|(_, cap)| *cap)
    }

    /// Returns the hooks that apply: the named ones, or `mask`.
    pub fn effective_hooks(&self) -> Vec<&str> {
        if self.redaction_hooks.is_empty() {
            return vec!["mask"];
        }
        self.redaction_hooks.iter().map(String::as_str).collect()
    }
}

fn read_kinds_per_phase(map: Fields) -> Result<Vec<(Phase, Vec<ItemKind>)>> {
    let base = map.path().to_owned();
    map.rest()
        .into_iter()
        .map(|(key, value)| {
            let at = crate::json::pointer(&base, &key);
            Ok((Phase::parse(&key).map_err(|e| e.at(&at))?, read_kinds(value, &at)?))
        })
        .collect()
}

fn read_kinds(value: Value, path: &str) -> Result<Vec<ItemKind>> {
    let Value::Array(list) = value else { return Err(crate::json::wrong_type(path, "an array", &value)) };
    list.into_iter()
        .enumerate()
        .map(|(index, entry)| {
            let at = format!("{path}/{index}");
            ItemKind::parse(&as_string(entry, &at)?).map_err(|e| e.at(at))
        })
        .collect()
}

fn read_caps(map: Fields) -> Result<Vec<(ItemKind, u64)>> {
    let base = map.path().to_owned();
    map.rest()
        .into_iter()
        .map(|(key, value)| {
            let at = crate::json::pointer(&base, &key);
            let kind = ItemKind::parse(&key).map_err(|e| e.at(&at))?;
            Ok((kind, crate::json::as_uint(&value, &at, limits::MAX_ITEMS as u64)?))
        })
        .collect()
}

fn kinds_per_phase<S: Serializer>(map: &[(Phase, Vec<ItemKind>)], s: S) -> std::result::Result<S::Ok, S::Error> {
    let mut out = s.serialize_map(Some(map.len()))?;
    for (phase, kinds) in map {
        out.serialize_entry(phase.as_str(), kinds)?;
    }
    out.end()
}

fn per_kind<S: Serializer>(map: &[(ItemKind, u64)], s: S) -> std::result::Result<S::Ok, S::Error> {
    let mut out = s.serialize_map(Some(map.len()))?;
    for (kind, cap) in map {
        out.serialize_entry(kind.as_str(), cap)?;
    }
    out.end()
}
