//! How relevance is weighed.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{ItemKind, Phase};
use crate::json::{Fields, as_number, pointer};
use contextweaver_base::{Error, ErrorCode, Result};

/// Which scoring decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScoringMethod {
    /// BM25 over the log with neighbours and context terms; the default.
    Bm25n,
    /// The weighted sum of contextweaver 0.18.
    Compat,
}

impl ScoringMethod {
    /// Parses the wire string.
    ///
    /// # Errors
    /// `INVALID_INPUT` for another name.
    pub fn parse(text: &str) -> Result<Self> {
        match text {
            "bm25n" => Ok(Self::Bm25n),
            "reference" => Ok(Self::Compat),
            other => Err(Error::new(
                ErrorCode::InvalidInput,
                format!("unknown scoring method {}", contextweaver_text::quote::quote(other)),
            )
            .hint("one of: bm25n reference")),
        }
    }

    /// Returns the wire string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Bm25n => "bm25n",
            Self::Compat => "reference",
        }
    }
}

/// Weights of the default scoring. Both are zero unless the caller wants otherwise, because measurements say so.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Bm25nWeights {
    /// Weight of the kind's priority, 0 to 1.
    pub kind_weight: f64,
    /// Weight of nearness to the end of the log, 0 to 1.
    pub recency_weight: f64,
}

/// Weights of the compat scoring.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct CompatWeights {
    /// Weight of the position in the log.
    pub recency_weight: f64,
    /// Weight of shared tags or words.
    pub tag_match_weight: f64,
    /// Weight of the kind.
    pub kind_priority_weight: f64,
    /// Weight of being short.
    pub token_cost_penalty: f64,
    /// Similarity at which a later item is a duplicate, 0 to 1.
    pub dedup_threshold: f64,
    /// Priorities that replace the table's, 0 to 1.
    #[cfg_attr(feature = "ts", ts(as = "Option<std::collections::BTreeMap<ItemKind, f64>>", optional))]
    pub kind_priority: Option<Vec<(ItemKind, f64)>>,
    /// Whole replacements per phase; the threshold is always the base's.
    #[cfg_attr(feature = "ts", ts(as = "Option<std::collections::BTreeMap<Phase, CompatWeights>>", optional))]
    pub phase_overrides: Option<Vec<(Phase, CompatWeights)>>,
}

impl Default for CompatWeights {
    fn default() -> Self {
        Self {
            recency_weight: 0.3,
            tag_match_weight: 0.25,
            kind_priority_weight: 0.35,
            token_cost_penalty: 0.1,
            dedup_threshold: 0.85,
            kind_priority: None,
            phase_overrides: None,
        }
    }
}

const COMPAT_FIELDS: &[&str] = &[
    "tag_match_weight",
    "kind_priority_weight",
    "token_cost_penalty",
    "dedup_threshold",
    "kind_priority",
    "phase_overrides",
];

impl CompatWeights {
    /// Reads weights as 0.18 writes them.
    ///
    /// # Errors
    /// `INVALID_INPUT`, `MISSING_FIELD`, `OUT_OF_RANGE` and the like, with the path of the field.
    pub fn from_value(value: Value, path: &str, strict: bool) -> Result<Self> {
        Self::read(Fields::open(value, path)?, strict, false)
    }

    fn read(mut fields: Fields, strict: bool, nested: bool) -> Result<Self> {
        let base = Self::default();
        let weight = |fields: &mut Fields, key: &'static str, default: f64| fields.number_or(key, default, -1e6, 1e6);
        let overrides = match fields.nested("phase_overrides")? {
            Some(map) if nested => {
                return Err(
                    Error::new(ErrorCode::InvalidInput, "phase overrides cannot hold phase overrides").at(map.path())
                );
            }
            Some(map) => Some(read_overrides(map, strict)?),
            None => None,
        };
        let priorities = match fields.nested("kind_priority")? {
            Some(map) => Some(read_priorities(map)?),
            None => None,
        };
        let weights = Self {
            recency_weight: weight(&mut fields, "recency_weight", base.recency_weight)?,
            tag_match_weight: weight(&mut fields, "tag_match_weight", base.tag_match_weight)?,
            kind_priority_weight: weight(&mut fields, "kind_priority_weight", base.kind_priority_weight)?,
            token_cost_penalty: weight(&mut fields, "token_cost_penalty", base.token_cost_penalty)?,
            dedup_threshold: fields.number_or("dedup_threshold", base.dedup_threshold, 0.0, 1.0)?,
            kind_priority: priorities,
            phase_overrides: overrides,
        };
        if strict {
            fields.finish()?;
        }
        Ok(weights)
    }

    /// Returns the weights of a phase: its override or the base, always with the base's threshold.
    #[must_use]
    pub fn for_phase(&self, phase: Phase) -> Self {
        let mut weights = self
            .phase_overrides
            .as_ref()
            .and_then(|overrides| overrides.iter().find(|(key, _)| *key == phase))
            .map_or_else(|| self.clone(), |(_, weights)| weights.clone());
        weights.dedup_threshold = self.dedup_threshold;
        weights
    }
}

fn read_overrides(map: Fields, strict: bool) -> Result<Vec<(Phase, CompatWeights)>> {
    let base = map.path().to_owned();
    map.rest()
        .into_iter()
        .map(|(key, value)| {
            let at = pointer(&base, &key);
            let phase = Phase::parse(&key).map_err(|e| e.at(&at))?;
            Ok((phase, CompatWeights::read(Fields::open(value, &at)?, strict, true)?))
        })
        .collect()
}

fn read_priorities(map: Fields) -> Result<Vec<(ItemKind, f64)>> {
    let base = map.path().to_owned();
    map.rest()
        .into_iter()
        .map(|(key, value)| {
            let at = pointer(&base, &key);
            let kind = ItemKind::parse(&key).map_err(|e| e.at(&at))?;
            Ok((kind, as_number(&value, &at, 0.0, 1.0)?))
        })
        .collect()
}

impl Serialize for CompatWeights {
    fn serialize<S: Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = s.serialize_map(None)?;
        map.serialize_entry("recency_weight", &self.recency_weight)?;
        map.serialize_entry("tag_match_weight", &self.tag_match_weight)?;
        map.serialize_entry("kind_priority_weight", &self.kind_priority_weight)?;
        map.serialize_entry("token_cost_penalty", &self.token_cost_penalty)?;
        map.serialize_entry("dedup_threshold", &self.dedup_threshold)?;
        if let Some(priorities) = &self.kind_priority {
            map.serialize_entry("kind_priority", &PairMap(priorities))?;
        }
        if let Some(overrides) = &self.phase_overrides {
            map.serialize_entry("phase_overrides", &PairMap(overrides))?;
        }
        map.end()
    }
}

/// The scoring of a manager: a method and that method's weights.
#[derive(Debug, Clone, PartialEq)]
pub enum ScoringConfig {
    /// The default.
    Bm25n(Bm25nWeights),
    /// The weighted sum of contextweaver 0.18.
    Compat(CompatWeights),
}

impl Default for ScoringConfig {
    fn default() -> Self {
        Self::Bm25n(Bm25nWeights::default())
    }
}

impl ScoringConfig {
    /// Reads closed options. `default_method` is what an absent `method` means.
    ///
    /// A weight of one method given to the other is `UNKNOWN_FIELD` with a hint: it would otherwise do nothing.
    ///
    /// # Errors
    /// `INVALID_INPUT`, `MISSING_FIELD`, `OUT_OF_RANGE` and the like, with the path of the field.
    pub fn from_value(value: Value, path: &str, default_method: ScoringMethod) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        match fields.parsed_or("method", default_method, ScoringMethod::parse)? {
            ScoringMethod::Compat => {
                if fields.has("kind_weight") {
                    return Err(foreign(&fields, "kind_weight", "bm25n"));
                }
                CompatWeights::read(fields, true, false).map(Self::Compat)
            }
            ScoringMethod::Bm25n => {
                if let Some(key) = COMPAT_FIELDS.iter().find(|key| fields.has(key)) {
                    return Err(foreign(&fields, key, "reference"));
                }
                let weights = Bm25nWeights {
                    kind_weight: fields.number_or("kind_weight", 0.0, 0.0, 1.0)?,
                    recency_weight: fields.number_or("recency_weight", 0.0, 0.0, 1.0)?,
                };
                fields.finish()?;
                Ok(Self::Bm25n(weights))
            }
        }
    }

    /// Returns the method.
    pub const fn method(&self) -> ScoringMethod {
        match self {
            Self::Bm25n(_) => ScoringMethod::Bm25n,
            Self::Compat(_) => ScoringMethod::Compat,
        }
    }
}

fn foreign(fields: &Fields, key: &str, owner: &str) -> Error {
    Error::new(
        ErrorCode::UnknownField,
        format!("{} belongs to another scoring method", contextweaver_text::quote::quote(key)),
    )
    .at(fields.at(key))
    .hint(format!("set scoring.method to \"{owner}\""))
}

/// Pairs that are an object on the wire.
struct PairMap<'a, K, V>(&'a [(K, V)]);

impl<K: Serialize, V: Serialize> Serialize for PairMap<'_, K, V> {
    fn serialize<S: Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
        s.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}
