//! How relevance is weighed.

use serde::Serialize;
use serde_json::Value;

use crate::json::Fields;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_text::quote::quote;

/// The only scoring method: BM25 over the log with neighbours and context terms.
const METHOD: &str = "bm25n";

/// Weights beside the words. Both are zero unless the caller wants otherwise, because measurements say so.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Bm25nWeights {
    /// Weight of the kind's priority, 0 to 1.
    pub kind_weight: f64,
    /// Weight of nearness to the end of the log, 0 to 1.
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
        if let Some(other) = fields.opt_string("method")?.filter(|method| method != METHOD) {
            let message = format!("unknown scoring method {}", quote(&other));
            return Err(Error::new(ErrorCode::InvalidInput, message).at(fields.at("method")).hint("one of: bm25n"));
        }
        let weights = Bm25nWeights {
            kind_weight: fields.number_or("kind_weight", 0.0, 0.0, 1.0)?,
            recency_weight: fields.number_or("recency_weight", 0.0, 0.0, 1.0)?,
        };
        fields.finish()?;
        Ok(Self { weights })
    }
}
