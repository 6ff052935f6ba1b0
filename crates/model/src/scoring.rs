//! How relevance is weighed.

use serde::Serialize;
use serde_json::Value;

use crate::json::{Field, Fields, Record};
use contextweaver_base::Result;

crate::string_enum! {
    /// How relevance is found.
    ScoringMethod, "scoring method" {
        /// BM25 over the log with neighbours and context terms.
        Bm25n = "bm25n",
    }
}

/// Weights beside the words. Both are zero unless the caller wants otherwise, because measurements say so.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Record)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[record(default)]
pub struct Bm25nWeights {
    /// Weight of the kind's priority, 0 to 1.
    #[record(range = 0.0..=1.0)]
    pub kind_weight: f64,
    /// Weight of nearness to the end of the log, 0 to 1.
    #[record(range = 0.0..=1.0)]
    pub recency_weight: f64,
}

/// The scoring of a manager.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ScoringConfig {
    /// What counts beside the words of the query.
    pub weights: Bm25nWeights,
}

impl ScoringConfig {
    /// Reads closed options.
    ///
    /// # Errors
    /// `INVALID_INPUT` for another `method` than `bm25n`; `UNKNOWN_FIELD` and `OUT_OF_RANGE`, with the path of the field.
    pub fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        ScoringMethod::optional(&mut fields, "method")?;
        let weights = Bm25nWeights::from_fields(&mut fields)?;
        fields.finish()?;
        Ok(Self { weights })
    }
}
