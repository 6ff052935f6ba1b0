//! Credentials that stand where nobody looks for them, and texts above the floor, in what is returned: none is there, and
//! what is stored stays as it came.

use contextweaver_context::memory::ConsolidationPolicy;
use contextweaver_context::{BuildRequest, ContextManager, ManagerOptions, ToolResult};
use contextweaver_model::{ArtifactRef, ContextItem, Episode, ItemKind, JsonMap, Phase, ResultEnvelope, Sensitivity};
use serde_json::json;

use crate::support::build;

/// A credential of GitHub's form, which no file of the project has as a whole.
fn secret() -> String {
    ["ghp", "_s3Kq9ZtWx7Lm2Vb8Rn4Yc6Hd1Jf5Pg0TaUeQ"].concat()
}

fn manager() -> ContextManager {
    ContextManager::new(ManagerOptions::default())
}

fn holds(text: &str) -> bool {
    text.contains(&secret()) || text.contains("s3Kq9ZtWx7")
}

#[test]
fn a_report_of_consolidation_shows_what_may_be_shown() {
    let mut manager = manager();
    for session in ["a", "b", "c"] {
        let metadata = JsonMap::from_iter([("session_id".to_owned(), session.into())]);
        for (id, summary, sensitivity) in [
            ("e", format!("The deployment needs the key {}", secret()), Sensitivity::Public),
            ("r", "The merger closes on Friday".to_owned(), Sensitivity::Restricted),
        ] {
            let episode_id = format!("{id}-{session}");
            let metadata = metadata.clone();
            manager.add_episode(Episode { episode_id, summary, tags: Vec::new(), metadata, sensitivity }).unwrap();
        }
    }
    let report = manager.consolidate(&ConsolidationPolicy::default(), None, true).unwrap();
    let mut texts: Vec<&str> = report.promoted.iter().map(|fact| fact.text.as_str()).collect();
    texts.sort_unstable();
    assert_eq!(texts, ["The deployment needs the key [REDACTED-SECRET]", "[REDACTED: restricted]"]);
    assert!(report.clusters.iter().all(|cluster| texts.contains(&cluster.canonical_text.as_str())));
    let stored: Vec<&str> = manager.facts().all().map(|fact| fact.value.as_str()).collect();
    assert!(stored.iter().any(|text| holds(text)) && stored.contains(&"The merger closes on Friday"), "{stored:?}");
}

#[test]
fn envelopes_name_no_credential() {
    let mut manager = manager();
    let result = ToolResult::new("c1", &secret());
    let ingested = manager.ingest_tool_result(&result, b"fine").unwrap().done().unwrap();
    assert_eq!(ingested.envelope.provenance["tool_name"], "[REDACTED-SECRET]");
    assert_eq!(ingested.envelope.provenance["source_item_id"], "result:c1");
    let envelope = json!({
        "status": "ok",
        "summary": format!("the key is {}", secret()),
        "facts": [secret()],
        "provenance": { secret(): secret() },
        "artifacts": [{ "handle": "h", "media_type": "text/plain", "size_bytes": 1, "label": secret() }],
    });
    let given = ResultEnvelope::from_value(envelope, "").unwrap();
    let item = manager.ingest_envelope("c2", "query", given.clone(), Sensitivity::Public).unwrap().done().unwrap();
    assert!(!holds(&serde_json::to_string(&item).unwrap()), "{item:?}");
    let withheld = manager.ingest_envelope("c3", "query", given, Sensitivity::Restricted).unwrap().done().unwrap();
    assert_eq!(withheld.text, "[REDACTED: restricted]");
    assert_eq!(withheld.artifact_ref.unwrap().label, "", "nor what it is called");
    let pack = build(&mut manager, &BuildRequest::new(Phase::Answer, "")).unwrap();
    assert_eq!(pack.envelopes.len(), 2);
    assert!(pack.prompt.contains("[REDACTED-SECRET]: fine"), "the name of the tool: {}", pack.prompt);
    assert!(!holds(&serde_json::to_string(&pack).unwrap()), "{pack:?}");
    assert!(holds(&serde_json::to_string(&manager.snapshot()).unwrap()), "what is stored is as it came");
}

#[test]
fn handles_and_ids_that_look_like_credentials_are_masked_where_somebody_reads_them() {
    let mut manager = manager();
    let mut item = ContextItem::new(secret(), ItemKind::PlanState, "Decision: we keep the plan");
    item.artifact_ref = Some(ArtifactRef {
        handle: format!("mcp:get_token:{}:text", secret()),
        media_type: "text/plain".to_owned(),
        size_bytes: 1,
        label: secret(),
        content_hash: String::new(),
    });
    manager.ingest_all(vec![item]).unwrap();
    let pack = build(&mut manager, &BuildRequest::new(Phase::Answer, "")).unwrap();
    // The brackets of the mask are escaped, as all are in a handle.
    assert!(pack.prompt.contains("[mcp:get_token:\\u{5b}REDACTED-SECRET\\u{5d}:text]"), "{}", pack.prompt);
    assert!(!holds(&pack.prompt), "{}", pack.prompt);
    let handoff = manager.handoff(1000).unwrap().done().unwrap();
    assert!(!holds(&handoff.to_markdown()), "{}", handoff.to_markdown());
    assert!(handoff.artifact_refs().iter().all(|artifact| !holds(&artifact.label)));
    let error = manager.ingest_all(vec![ContextItem::new(secret(), ItemKind::UserTurn, "again")]).unwrap_err();
    assert!(error.message().contains("`[REDACTED-SECRET]`"), "{error}");
    assert_eq!(manager.events().items()[0].id, secret(), "the log has it as it came");
}
