//! Credentials that stand where nobody looks for them, and texts above the floor, in what is returned: none is there, and
//! what is stored stays as it came.

use contextweaver_base::ErrorCode;
use contextweaver_context::memory::ConsolidationPolicy;
use contextweaver_context::{
    BuildRequest, CompactRequest, ContextManager, DrilldownRequest, ManagerOptions, McpResult, ToolResult,
};
use contextweaver_convert::mcp::{McpResultOptions, mcp_result_to_envelope};
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

/// A password that only what stands around it tells.
const PASSWORD: &str = "Tr0ub4dorXyz9";

#[test]
fn facts_are_taken_out_of_the_masked_text() {
    let address = format!("postgres://app:{PASSWORD}@db:5432/x");
    let manifest = format!("kind: Secret\ndata:\n  user: {PASSWORD}\n");
    let long = "info line of log text\n".repeat(600);
    for text in [
        address.clone(),
        format!("{address}\nstatus: ok\n{long}"),
        format!("{long}{address}\n"),
        format!("- {address}"),
        manifest.clone(),
        format!("{manifest}{long}"),
        format!("password | {PASSWORD}\nname     | bob"),
    ] {
        let mut manager = manager();
        let ingested =
            manager.ingest_tool_result(&ToolResult::new("c1", "f"), text.as_bytes()).unwrap().done().unwrap();
        assert!(!json!(ingested).to_string().contains(PASSWORD), "{ingested:?}");
        let result = json!({ "content": [{ "type": "text", "text": text }] });
        let converted = mcp_result_to_envelope(&result, "f", &McpResultOptions::default()).unwrap();
        let result = McpResult::new(ToolResult::new("c2", "f"), converted);
        let ingested = manager.ingest_mcp_result(result).unwrap().done().unwrap();
        assert!(!json!(ingested).to_string().contains(PASSWORD), "{ingested:?}");
        let pack = build(&mut manager, &BuildRequest { explain: true, ..BuildRequest::new(Phase::Answer, &address) });
        assert!(!json!(pack.unwrap()).to_string().contains(PASSWORD));
        for data in [json!(text), json!({ "log": text })] {
            for budget_tokens in [Some(20), None] {
                let request = CompactRequest { budget_tokens, ..CompactRequest::new(data.clone()) };
                let compacted = manager.compact(&request).unwrap().done().unwrap();
                assert!(!json!(compacted).to_string().contains(PASSWORD), "{compacted:?}");
            }
        }
    }
}

#[test]
fn what_the_next_call_repeats_reaches_the_model_and_no_record() {
    let signature = "9f8e7d6c5b4a39281706f5e4d3c2b1a0";
    let address = format!("https://b.s3.amazonaws.com/up?X-Amz-Expires=900&X-Amz-Signature={signature}");
    let text =
        format!("{{\"upload_url\":\"{address}\",\"csrf_token\":\"{signature}\",\"own\":\"password={PASSWORD}\"}}");
    let mut manager = manager();
    let ingested = manager.ingest_tool_result(&ToolResult::new("c1", "f"), text.as_bytes()).unwrap().done().unwrap();
    assert_eq!(ingested.item.text, text.replace(PASSWORD, "[REDACTED-SECRET]"));
    let request = BuildRequest { explain: true, ..BuildRequest::new(Phase::Answer, &format!("upload to {address}")) };
    let pack = build(&mut manager, &request).unwrap();
    assert!(pack.prompt.contains(&address), "{}", pack.prompt);
    let record = pack.explanation.unwrap();
    assert!(!json!(record).to_string().contains(signature), "{record:?}");
    let slice = manager.drilldown(&DrilldownRequest::new("artifact:result:c1", json!({ "type": "lines" })));
    assert!(slice.unwrap().done().unwrap().text.contains(&address));
}

#[test]
fn fields_are_exempted_by_name_and_path() {
    let text = format!("{{\"a\":{{\"password\":\"{PASSWORD}\"}},\"b\":{{\"password\":\"{PASSWORD}\"}}}}");
    for (option, wanted) in [
        (json!({ "except": ["a.password"] }), "{\"a\":{\"password\":\"P\"},\"b\":{\"password\":\"#\"}}"),
        (json!({ "except": ["pass*"] }), "{\"a\":{\"password\":\"P\"},\"b\":{\"password\":\"P\"}}"),
        (json!({ "except": [] }), "{\"a\":{\"password\":\"#\"},\"b\":{\"password\":\"#\"}}"),
        (json!(false), "{\"a\":{\"password\":\"P\"},\"b\":{\"password\":\"P\"}}"),
    ] {
        let options = ManagerOptions::from_value(json!({ "redact_secrets": option })).unwrap();
        let mut manager = ContextManager::new(options);
        let result = ToolResult::new("c1", "f");
        let ingested = manager.ingest_tool_result(&result, text.as_bytes()).unwrap().done().unwrap();
        assert_eq!(ingested.item.text, wanted.replace('P', PASSWORD).replace('#', "[REDACTED-SECRET]"));
    }
    for (option, code, path) in [
        (json!("yes"), ErrorCode::InvalidInput, "/redact_secrets"),
        (json!({ "except": [""] }), ErrorCode::InvalidInput, "/redact_secrets/except/0"),
        (json!({ "excpet": [] }), ErrorCode::UnknownField, "/redact_secrets/excpet"),
    ] {
        let error = ManagerOptions::from_value(json!({ "redact_secrets": option })).unwrap_err();
        assert_eq!((error.code(), error.path()), (code, path));
    }
}
