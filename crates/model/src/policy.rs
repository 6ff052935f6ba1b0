//! Who may enter a prompt.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::{ItemKind, JsonMap, OverflowAction, Phase, Sensitivity, SensitivityAction};
use crate::json::{Field, Fields, Record, as_uint};
use contextweaver_base::Result;
use contextweaver_base::limits;
use contextweaver_base::order::sort_by;

const ROUTE_KINDS: &[ItemKind] = &[ItemKind::UserTurn, ItemKind::PlanState, ItemKind::Policy];
const CALL_KINDS: &[ItemKind] =
    &[ItemKind::UserTurn, ItemKind::AgentMsg, ItemKind::ToolCall, ItemKind::PlanState, ItemKind::Policy];

/// Which items a phase admits, how many of a kind, and what happens to sensitive ones.
#[derive(Debug, Clone, PartialEq, Serialize, Record)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[record(default)]
pub struct ContextPolicy {
    /// Kinds each phase admits; a phase absent from a supplied map admits nothing.
    #[serde(serialize_with = "write_kinds_per_phase")]
    #[cfg_attr(feature = "ts", ts(as = "std::collections::BTreeMap<Phase, Vec<ItemKind>>"))]
    #[record(with = kinds_per_phase)]
    pub allowed_kinds_per_phase: Vec<(Phase, Vec<ItemKind>)>,
    /// Most items of one kind in a prompt.
    #[serde(serialize_with = "write_caps")]
    #[cfg_attr(feature = "ts", ts(as = "std::collections::BTreeMap<ItemKind, u64>"))]
    #[record(with = caps)]
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

type KindsPerPhase = Vec<(Phase, Vec<ItemKind>)>;
type KindCaps = Vec<(ItemKind, u64)>;

fn kinds_per_phase(fields: &mut Fields, key: &'static str, base: KindsPerPhase) -> Result<KindsPerPhase> {
    let given = fields.entries(key, |name, value, at| {
        Ok((Phase::parse(name).map_err(|error| error.at(at))?, Vec::read(value, at)?))
    })?;
    Ok(given.unwrap_or(base))
}

/// Takes limits of kinds over those of the base.
fn caps(fields: &mut Fields, key: &'static str, base: KindCaps) -> Result<KindCaps> {
    let given = fields.entries(key, |name, value, at| {
        let kind = ItemKind::parse(name).map_err(|error| error.at(at))?;
        Ok((kind, as_uint(&value, at, limits::MAX_ITEMS as u64)?))
    })?;
    let Some(mut caps) = given else { return Ok(base) };
    let others = base.into_iter().filter(|(kind, _)| caps.iter().all(|(given, _)| given != kind));
    let others: Vec<_> = others.collect();
    caps.extend(others);
    sort_by(&mut caps, |a, b| a.0.cmp(&b.0));
    Ok(caps)
}

fn write_kinds_per_phase<S: Serializer>(map: &[(Phase, Vec<ItemKind>)], s: S) -> std::result::Result<S::Ok, S::Error> {
    let mut out = s.serialize_map(Some(map.len()))?;
    for (phase, kinds) in map {
        out.serialize_entry(phase.as_str(), kinds)?;
    }
    out.end()
}

fn write_caps<S: Serializer>(map: &[(ItemKind, u64)], s: S) -> std::result::Result<S::Ok, S::Error> {
    let mut out = s.serialize_map(Some(map.len()))?;
    for (kind, cap) in map {
        out.serialize_entry(kind.as_str(), cap)?;
    }
    out.end()
}
