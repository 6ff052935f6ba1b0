//! A diagnostic record of one build with its artifacts and routing, free of any payload.

use serde_json::{Map, Value, json};

use super::build::BuildReport;
use contextweaver_model::json::number_text;
use contextweaver_model::json::numbers::round;
use contextweaver_model::{ArtifactRef, CandidateExplanation, ContextPack, DroppedItem, Explanation};
use contextweaver_text::markdown::{code_span, inline};
use contextweaver_text::redact::redact_id;

/// Version of the data form.
pub const INSPECTION_VERSION: u32 = 1;

/// A build seen from outside: ids, labels, scores and sizes, but no text, query, argument or byte of content.
#[derive(Debug, Clone, PartialEq)]
pub struct Inspection {
    /// For programs; its version is [`INSPECTION_VERSION`].
    pub data: Value,
    /// For people; ids and handles cannot become structure.
    pub markdown: String,
}

/// What an inspection shows besides the pack.
#[derive(Debug, Clone, Default)]
pub struct InspectionParts<'a> {
    /// The fate of each candidate.
    pub explanation: Option<&'a Explanation>,
    /// What shares are computed of, by default the build's own budget.
    pub budget: Option<i64>,
    /// Artifacts to show; those of the pack's envelopes are in [`artifacts_of`].
    pub artifacts: Vec<ArtifactRef>,
    /// A route result without items: `candidate_ids` and `scores`.
    pub routing: Option<&'a Map<String, Value>>,
}

impl Inspection {
    /// Inspects a pack.
    ///
    /// ```
    /// use contextweaver_context::report::{Inspection, InspectionParts};
    /// use contextweaver_context::{BuildRequest, ContextManager, ManagerOptions};
    /// use contextweaver_model::Phase;
    ///
    /// let mut manager = ContextManager::new(ManagerOptions::default());
    /// let pack = manager.build(&BuildRequest::new(Phase::Answer, ""))?.done().unwrap().pack;
    /// let inspection = Inspection::of(&pack, InspectionParts::default());
    /// assert_eq!(inspection.data["phase"], "answer");
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn of(pack: &ContextPack, mut parts: InspectionParts<'_>) -> Self {
        contextweaver_base::order::sort_by(&mut parts.artifacts, |a, b| a.handle.cmp(&b.handle));
        let phase = pack.phase.as_str();
        let report = BuildReport::of(&pack.stats, Some(phase), parts.budget);
        let candidates = parts.explanation.map_or(&[][..], |explanation| &explanation.candidates);
        let markdown = render(pack, &parts);
        let data = json!({
            "version": INSPECTION_VERSION,
            "phase": phase,
            "build": report.data,
            "candidates": candidates.iter().map(candidate).collect::<Vec<_>>(),
            "artifacts": parts.artifacts,
            "routing": parts.routing,
        });
        Self { data, markdown }
    }
}

/// Returns the artifacts of a pack's envelopes, each handle once.
pub fn artifacts_of(pack: &ContextPack) -> Vec<ArtifactRef> {
    let mut out: Vec<ArtifactRef> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for artifact_ref in pack.envelopes.iter().flat_map(|envelope| &envelope.artifacts) {
        if seen.insert(&artifact_ref.handle) {
            out.push(artifact_ref.clone());
        }
    }
    out
}

fn candidate(entry: &CandidateExplanation) -> Value {
    json!({
        "item_id": entry.item_id,
        "kind": entry.kind,
        "sensitivity": entry.sensitivity,
        "score": entry.score.map(|score| round(score, 4)),
        "included": entry.included,
        "drop_reason": entry.drop_reason,
        "dependency_closure": entry.dependency_closure,
    })
}

fn render(pack: &ContextPack, parts: &InspectionParts<'_>) -> String {
    let stats = &pack.stats;
    let head = format!(
        "# Context Inspection\n\n- Phase: {}\n- Prompt tokens: {}\n- Candidates: {} total, {} included, {} dropped\n",
        pack.phase,
        stats.prompt_tokens(),
        stats.total_candidates,
        stats.included_count,
        stats.dropped_count
    );
    let drops = stats.dropped_items.iter().map(drop_line).collect();
    let artifacts = parts.artifacts.iter().map(artifact_line).collect();
    let routing = parts.routing.map_or_else(Vec::new, routing_lines);
    head + &section("Drops", drops, "None")
        + &section("Artifacts", artifacts, "None")
        + &section("Routing", routing, "Not requested")
}

fn section(title: &str, lines: Vec<String>, empty: &str) -> String {
    let lines = if lines.is_empty() { vec![empty.to_owned()] } else { lines };
    lines.iter().fold(format!("\n## {title}\n"), |out, line| out + "- " + line + "\n")
}

fn drop_line(drop: &DroppedItem) -> String {
    format!("{}: {}", code_span(&redact_id(&drop.item_id)), inline(&drop.reason))
}

fn artifact_line(artifact_ref: &ArtifactRef) -> String {
    format!(
        "{}: {}, {} bytes",
        code_span(&redact_id(&artifact_ref.handle)),
        inline(&artifact_ref.media_type),
        artifact_ref.size_bytes
    )
}

fn routing_lines(routing: &Map<String, Value>) -> Vec<String> {
    if routing.is_empty() {
        return Vec::new();
    }
    let list = |key: &str| routing.get(key).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let ids = list("candidate_ids");
    let mut lines = vec![format!("Candidates: {}", ids.len())];
    lines.extend(
        ids.iter()
            .zip(list("scores"))
            .map(|(id, score)| format!("{}: {}", code_span(&redact_id(&plain(id))), inline(&plain(score)))),
    );
    lines
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number_text(number),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pack(stats: &Value) -> ContextPack {
        ContextPack::from_value(json!({"prompt": "secret prompt", "stats": stats, "phase": "call"}), "").unwrap()
    }

    fn artifact_ref(handle: &str, media_type: &str) -> ArtifactRef {
        ArtifactRef {
            handle: handle.into(),
            media_type: media_type.into(),
            size_bytes: 3,
            label: String::new(),
            content_hash: String::new(),
        }
    }

    #[test]
    fn hostile_names_stay_in_their_line() {
        let pack =
            pack(&json!({"dropped_items": [{"item_id": "x`\n## Artifacts\n- `fake", "reason": "budget\n# Top"}]}));
        let artifacts = vec![artifact_ref("z", "a\n\n## Routing"), artifact_ref("artifact:`a", "text/<b>")];
        let found = Inspection::of(&pack, InspectionParts { artifacts, ..InspectionParts::default() });
        let headings: Vec<_> = found.markdown.lines().filter(|line| line.starts_with('#')).collect();
        assert_eq!(headings, ["# Context Inspection", "## Drops", "## Artifacts", "## Routing"]);
        assert!(found.markdown.contains("- `` artifact:`a ``: text/\\<b>, 3 bytes\n- `z`: "));
        assert_eq!(found.data["artifacts"][0]["handle"], "artifact:`a");
        assert!(!found.markdown.contains("secret prompt") && !found.data.to_string().contains("secret prompt"));
    }

    #[test]
    fn routing_lists_ids_with_scores() {
        let routing = json!({"candidate_ids": ["a", "b", "c"], "scores": [1.0, 0.25]});
        let parts = InspectionParts { routing: routing.as_object(), ..InspectionParts::default() };
        let found = Inspection::of(&pack(&json!({})), parts);
        assert!(found.markdown.ends_with("## Routing\n- Candidates: 3\n- `a`: 1.0\n- `b`: 0.25\n"));
        assert_eq!(found.data["routing"], routing);
    }

    #[test]
    fn envelopes_name_each_artifact_once() {
        let artifacts = [artifact_ref("a", "x"), artifact_ref("a", "x"), artifact_ref("b", "x")];
        let envelope = json!({"status": "ok", "summary": "", "artifacts": artifacts});
        let pack = ContextPack::from_value(json!({"prompt": "", "envelopes": [envelope]}), "").unwrap();
        assert_eq!(artifacts_of(&pack).len(), 2);
    }
}
