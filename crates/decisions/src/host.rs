//! What comes with a call besides its arguments.

use crate::record::DecisionTable;
use contextweaver_base::order::SortedMap;

/// Who calls, when, and what the host answered.
#[derive(Debug, Clone, Copy)]
pub struct CallerContext<'a> {
    /// The calling agent; `mcp-client` when nobody said.
    pub agent: &'a str,
    /// A handle of the transport or of an earlier call that thoughts are collected under.
    pub trace: Option<&'a str>,
    /// Milliseconds since 1970-01-01T00:00:00 UTC.
    pub now: i64,
    /// What the host answered to the needs of this call.
    pub answers: &'a HostAnswers,
}

/// What the host must supply before a tool can run; nothing has changed by then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostRequest {
    /// A new id for a decision: 1 to 64 letters, digits, underscores and hyphens.
    Id,
    /// Embedding vectors of these texts.
    Embed {
        /// The texts, each once.
        texts: Vec<String>,
    },
}

/// What the host supplied for one call.
#[derive(Debug, Default)]
pub struct HostAnswers {
    ids: Vec<String>,
    vectors: SortedMap<String, Vec<f32>>,
    /// Returns the message of the embedder's failure, if it failed.
    embedder_failure: Option<String>,
}

impl HostAnswers {
    /// Adds an id for a decision that is logged.
    pub fn add_id(&mut self, id: String) {
        self.ids.push(id);
    }

    /// Adds the embedding vector of a text.
    pub fn add_vector(&mut self, text: String, vector: Vec<f32>) {
        self.vectors.insert(text, vector);
    }

    /// Notes that the host's embedder failed, so that what needs vectors does without.
    pub fn fail_embedder(&mut self, message: String) {
        self.embedder_failure = Some(message);
    }

    /// Returns the first id of the host that no decision has yet.
    pub fn next_id(&self, records: &DecisionTable) -> Option<&str> {
        self.ids.iter().map(String::as_str).find(|id| records.get(id).is_none())
    }

    /// Returns the host's embedding vector of a text.
    pub fn vector(&self, text: &str) -> Option<&[f32]> {
        self.vectors.get(text).map(Vec::as_slice)
    }

    /// Returns how the embedder failed.
    pub fn embedder_failure(&self) -> Option<&str> {
        self.embedder_failure.as_deref()
    }
}
