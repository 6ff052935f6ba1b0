//! How a store searches unless a call says otherwise.

use super::fusion::ScoreFusion;
use super::keywords::Bm25Weighting;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::Fields;

/// Weight of meaning in a ranking that merges both.
const SEMANTIC_WEIGHT: f64 = 0.7;
/// Characters of the name of a model.
const MAX_MODEL_CHARS: usize = 200;

contextweaver_model::string_enum! {
    /// How decisions are ranked for a query.
    #[derive(Default)]
    RetrievalMode, "retrieval_mode" {
        /// By keywords and embeddings, merged as [`ScoreFusion`] says.
        #[default]
        Hybrid = "hybrid",
        /// By the distance of embeddings.
        Semantic = "semantic",
        /// By BM25 over keywords.
        Keyword = "keyword",
    }
}

/// Options of retrieval and of links.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchOptions {
    /// Mode of queries that name none.
    pub retrieval_mode: RetrievalMode,
    /// Mode of the search for related decisions before an action and for the context of a session.
    pub context_retrieval_mode: RetrievalMode,
    /// Share of the embeddings in [`RetrievalMode::Hybrid`], from 0 to 1; the rest is that of keywords.
    pub hybrid_weight: f64,
    /// How the scores of both rankings are merged.
    pub fusion: ScoreFusion,
    /// Weighting of keywords.
    pub bm25: Bm25Weighting,
    /// The model of the vectors that the host makes; without one they are made here.
    pub embedding_model: Option<String>,
    /// Whether decisions may be linked with ids that the store does not have.
    pub allow_stubs: bool,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            retrieval_mode: RetrievalMode::default(),
            context_retrieval_mode: RetrievalMode::default(),
            hybrid_weight: SEMANTIC_WEIGHT,
            fusion: ScoreFusion::default(),
            bm25: Bm25Weighting::default(),
            embedding_model: None,
            allow_stubs: false,
        }
    }
}

impl SearchOptions {
    /// Takes the options of the search and of the graph out of those of a store.
    ///
    /// `embedding_model` is the name of the model of the host's vectors; without it the store makes its own.
    ///
    /// # Errors
    ///
    /// `INVALID_INPUT` or `OUT_OF_RANGE`, with the path of the field.
    pub fn take(fields: &mut Fields) -> Result<Self> {
        let retrieval_mode = fields.parsed_or("retrieval_mode", RetrievalMode::default(), RetrievalMode::parse)?;
        let embedding_model = fields.opt_string("embedding_model")?;
        if let Some(model) = &embedding_model
            && (model.is_empty() || model.chars().nth(MAX_MODEL_CHARS).is_some())
        {
            let message = format!("expected a name of 1 to {MAX_MODEL_CHARS} characters");
            return Err(Error::new(ErrorCode::OutOfRange, message).at(fields.at("embedding_model")));
        }
        Ok(Self {
            retrieval_mode,
            context_retrieval_mode: fields.parsed_or("context_retrieval_mode", retrieval_mode, RetrievalMode::parse)?,
            hybrid_weight: fields.number_or("hybrid_weight", SEMANTIC_WEIGHT, 0.0, 1.0)?,
            fusion: fields.parsed_or("fusion", ScoreFusion::default(), ScoreFusion::parse)?,
            bm25: fields.parsed_or("bm25", Bm25Weighting::default(), Bm25Weighting::parse)?,
            embedding_model,
            allow_stubs: fields.bool_or("allow_stubs", false)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn options_are_read_and_checked() {
        let read = |value| {
            let mut fields = Fields::open(value, "").map_err(|error| error.to_string())?;
            SearchOptions::take(&mut fields).map_err(|error| format!("{} {}", error.code().as_str(), error.path()))
        };
        assert_eq!(read(json!({})), Ok(SearchOptions::default()));
        let all = json!({ "retrieval_mode": "keyword", "hybrid_weight": 1, "fusion": "rrf", "bm25": "okapi",
            "embedding_model": "m", "allow_stubs": true });
        let expected = SearchOptions {
            retrieval_mode: RetrievalMode::Keyword,
            context_retrieval_mode: RetrievalMode::Keyword,
            hybrid_weight: 1.0,
            fusion: ScoreFusion::Rrf,
            bm25: Bm25Weighting::Okapi,
            embedding_model: Some("m".to_owned()),
            allow_stubs: true,
        };
        assert_eq!(read(all), Ok(expected));
        for (bad, problem) in [
            (json!({ "retrieval_mode": "fuzzy" }), "INVALID_INPUT /retrieval_mode"),
            (json!({ "fusion": "sum" }), "INVALID_INPUT /fusion"),
            (json!({ "bm25": "" }), "INVALID_INPUT /bm25"),
            (json!({ "hybrid_weight": 1.5 }), "OUT_OF_RANGE /hybrid_weight"),
            (json!({ "embedding_model": "" }), "OUT_OF_RANGE /embedding_model"),
        ] {
            assert_eq!(read(bad), Err(problem.to_owned()));
        }
    }
}
