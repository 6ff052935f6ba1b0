//! Why a short list is what it is, as data and as Markdown; schemas and descriptions never show.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::completion::{CompletionReason, QueryCompletion};
use contextweaver_model::json::numbers::{fixed, round};
use contextweaver_text::markdown::{code_span, inline};
use contextweaver_text::redact::redact_id;

/// Version of the explanation's form.
const VERSION: u32 = 1;

/// What an explanation tells of a route.
#[derive(Debug, Clone, Copy, Default)]
pub struct RouteExplanation<'a> {
    /// The query as it was asked.
    pub query: &'a str,
    /// Name of the scorer, such as `bm25f`.
    pub retriever_engine: &'a str,
    /// Ids of the short list with their scores.
    pub candidates: &'a [(String, f64)],
    /// Whether the best two scores are too close to choose by.
    pub is_ambiguous: bool,
    /// A question that tells the best tools apart.
    pub clarifying_question: Option<&'a str>,
    /// Hints that came with the query.
    pub context_hints: &'a [String],
    /// Whether a hint became part of the query.
    pub context_boost_applied: bool,
    /// What the query was completed to, where it does not stand on its own.
    pub completion: Option<&'a QueryCompletion>,
    /// Number of tools excluded by id or tag.
    pub excluded_count: usize,
    /// Number of tools outside the allowed namespaces or tags.
    pub gated_count: usize,
}

impl RouteExplanation<'_> {
    /// Returns the two candidates to compare: those with the best scores, wherever pinned tools stand.
    fn best(&self) -> [Option<&(String, f64)>; 2] {
        let mut best: [Option<&(String, f64)>; 2] = [None, None];
        let beats = |a: &(String, f64), b: Option<&(String, f64)>| b.is_none_or(|b| a.1 > b.1);
        for candidate in self.candidates {
            if beats(candidate, best[0]) {
                best = [Some(candidate), best[0]];
            } else if beats(candidate, best[1]) {
                best[1] = Some(candidate);
            }
        }
        best
    }

    /// Returns the explanation as data.
    pub fn to_json(&self) -> Value {
        let scored = |candidate: &(String, f64)| json!({ "id": candidate.0, "score": round(candidate.1, 4) });
        let candidates: Vec<Value> = self
            .candidates
            .iter()
            .enumerate()
            .map(|(index, (id, score))| json!({ "rank": index + 1, "id": id, "score": round(*score, 4) }))
            .collect();
        let best = self.best();
        let gap = match best {
            [Some(top), Some(next)] => Some(round(top.1 - next.1, 4)),
            _ => None,
        };
        let mut data = json!({
            "version": VERSION,
            "query": self.query,
            "retriever_engine": self.retriever_engine,
            "candidates": candidates,
            "top": best[0].map(scored),
            "runner_up": best[1].map(scored),
            "confidence_gap": gap,
            "is_ambiguous": self.is_ambiguous,
            "clarifying_question": self.clarifying_question,
            "context_hints": self.context_hints,
            "context_boost_applied": self.context_boost_applied,
            "excluded_count": self.excluded_count,
            "gated_count": self.gated_count,
        });
        if let Some(completion) = self.completion {
            data["completion"] = json!(completion);
        }
        data
    }

    /// Returns the explanation as Markdown.
    ///
    /// # Examples
    ///
    /// ```
    /// use contextweaver_routing::RouteExplanation;
    ///
    /// let candidates = [("mail.send".to_owned(), 2.5), ("files.read".to_owned(), 0.5)];
    /// let explanation = RouteExplanation {
    ///     query: "send an email",
    ///     retriever_engine: "bm25f",
    ///     candidates: &candidates,
    ///     ..RouteExplanation::default()
    /// };
    /// assert!(explanation.to_markdown().contains("| 1 | `mail.send` | 2.5000 |"));
    /// assert_eq!(explanation.to_json()["confidence_gap"], 2.0);
    /// ```
    pub fn to_markdown(&self) -> String {
        // An id is found in the data; here somebody reads it.
        let code_of_id = |id: &str| code_span(&redact_id(id));
        let mut out = format!(
            "### Routing explanation for query {}\n\n_Retriever engine: {}._\n",
            code_span(if self.query.is_empty() { "(no query)" } else { self.query }),
            code_span(self.retriever_engine)
        );
        self.write_completion(&mut out);
        out += "\n**Top candidates**\n\n";
        out += match self.candidates {
            [] => "_No candidates returned._\n",
            _ => "| Rank | Tool id | Score |\n|---:|:---|---:|\n",
        };
        for (index, (id, score)) in self.candidates.iter().enumerate() {
            // A cell ends at a bar even inside code.
            let id = code_of_id(id).replace('|', "\\|");
            let _ = writeln!(out, "| {} | {id} | {} |", index + 1, fixed(*score, 4));
        }
        let shown = |candidate: &(String, f64)| format!("{} ({})", code_of_id(&candidate.0), fixed(candidate.1, 4));
        let _ = match self.best() {
            [Some(top), Some(next)] => {
                let gap = fixed(top.1 - next.1, 4);
                let sign = if gap.starts_with('-') { "" } else { "+" };
                writeln!(out, "\n**Confidence gap**: {} vs runner-up {} = **{sign}{gap}**.", shown(top), shown(next))
            }
            [Some(top), None] => writeln!(out, "\n**Top pick**: {} — no runner-up.", shown(top)),
            _ => writeln!(out, "\n**Confidence gap**: n/a (no candidates)."),
        };
        out += if self.is_ambiguous {
            "\n⚠️ **Ambiguous result** (gap below router's `confidence_gap` threshold).\n"
        } else {
            "\n✅ Result is **not** ambiguous (gap above threshold).\n"
        };
        if let Some(question) = self.clarifying_question {
            let _ = writeln!(out, "\n> Suggested clarifying question: _{}_", inline(question));
        }
        self.write_filters(&mut out);
        if !self.context_hints.is_empty() {
            out += "\n**Context hints applied**\n\n";
            for hint in self.context_hints {
                let _ = writeln!(out, "- {}", inline(hint));
            }
            if self.context_boost_applied {
                out += "\n_Hints altered the scoring query._\n";
            }
        }
        out
    }

    /// Says what was searched for in place of the query, and from where that is.
    fn write_completion(&self, out: &mut String) {
        let Some(QueryCompletion { query, reason, item_ids, tool_ids }) = self.completion else { return };
        let listed = |ids: &[String]| ids.iter().map(|id| code_span(&redact_id(id))).collect::<Vec<_>>().join(", ");
        let why = match reason {
            CompletionReason::Agreement => "agrees to what was proposed",
            CompletionReason::FollowUp => "goes on with what was asked for before",
        };
        let _ = write!(out, "\n**Completed query**: {} (it {why}", code_span(query));
        for (what, ids) in [("from", item_ids), ("called", tool_ids)] {
            if !ids.is_empty() {
                let _ = write!(out, "; {what} {}", listed(ids));
            }
        }
        *out += ").\n";
    }

    fn write_filters(&self, out: &mut String) {
        if self.excluded_count + self.gated_count == 0 {
            return;
        }
        *out += "\n**Filters applied**\n\n";
        for (count, by) in [
            (self.excluded_count, "by `exclude_ids` / `exclude_tags`."),
            (self.gated_count, "by `allowed_namespaces` / `allowed_tags` toolset gating."),
        ] {
            if count > 0 {
                let _ = writeln!(out, "- {count} item(s) filtered {by}");
            }
        }
    }
}
