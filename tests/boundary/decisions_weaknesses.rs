//! What the reference server of the decision memory gets wrong, and what happens here instead.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first thing that is wrong")]

use serde_json::{Value, json};

use contextweaver::api::decisions as api;

struct Memory {
    session: api::DecisionSession,
    ids: u32,
}

impl Memory {
    fn new(options: &Value) -> Self {
        Self { session: api::new_store(&options.to_string()).unwrap(), ids: 0 }
    }

    /// Calls a tool; returns the structured content, or the text of the error.
    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let mut request = json!({ "name": tool, "arguments": arguments, "now": 1_773_576_000_000_i64 });
        for _ in 0..3 {
            let answer = api::call(&mut self.session, "call_tool", &request.to_string()).unwrap();
            let answer: Value = serde_json::from_str(&answer).unwrap();
            if answer.get("need").is_none() {
                let result = &answer["done"];
                return if result["isError"] == true {
                    json!({ "isError": serde_json::from_str::<Value>(result["content"][0]["text"].as_str().unwrap()).unwrap() })
                } else {
                    result["structuredContent"].clone()
                };
            }
            self.ids += 1;
            request["ids"] = json!([format!("{:08x}", self.ids)]);
        }
        panic!("{tool} asks on");
    }

    fn log(&mut self, text: &str, confidence: f64) -> String {
        let arguments = json!({ "decision": text, "confidence": confidence, "category": "tooling",
            "reasons": [{ "type": "analysis", "text": "measured" }] });
        self.call("log_decision", &arguments)["id"].as_str().unwrap().to_owned()
    }
}

fn plain() -> Memory {
    Memory::new(&json!({}))
}

#[test]
fn the_mode_of_a_search_is_obeyed() {
    let mut memory = plain();
    memory.log("Use PostgreSQL for orders", 0.8);
    for mode in ["keyword", "semantic", "hybrid"] {
        let found = memory.call("query_decisions", &json!({ "query": "orders", "retrieval_mode": mode }));
        assert_eq!(found["retrievalMode"], mode);
        let id = found["decisions"][0]["id"].as_str().unwrap();
        let scores = &found["scores"][id];
        assert_eq!(scores["semantic"].as_f64() == Some(0.0), mode == "keyword", "{found}");
    }
}

#[test]
fn empty_stores_and_upper_bounds_of_confidence_are_answered() {
    let mut memory = plain();
    assert_eq!(memory.call("query_decisions", &json!({ "query": "anything" }))["total"], 0);
    memory.log("Use PostgreSQL for orders", 0.9);
    for mode in ["keyword", "semantic", "hybrid"] {
        let query = json!({ "query": "orders", "retrieval_mode": mode, "filters": { "max_confidence": 0.5 } });
        assert_eq!(memory.call("query_decisions", &query)["total"], 0, "{mode}");
    }
}

#[test]
fn no_confidence_at_all_is_a_confidence() {
    let mut memory = plain();
    let action = json!({ "action": { "description": "Guess the format", "confidence": 0 } });
    let id = memory.call("pre_action", &action)["decisionId"].clone();
    assert_eq!(memory.call("get_decision", &json!({ "id": id }))["decision"]["confidence"].as_f64(), Some(0.0));
}

#[test]
fn confidence_stays_once_the_outcome_is_known() {
    let mut memory = plain();
    let id = memory.log("Use PostgreSQL for orders", 0.9);
    memory.call("review_outcome", &json!({ "id": id, "outcome": "failure" }));
    let refused = memory.call("update_decision", &json!({ "id": id, "confidence": 0.1 }));
    assert_eq!(refused["isError"]["error"], "validation_error");
    assert_eq!(memory.call("get_decision", &json!({ "id": id }))["decision"]["confidence"], 0.9);
}

#[test]
fn links_lead_to_decisions() {
    let mut memory = plain();
    let id = memory.log("Use PostgreSQL for orders", 0.9);
    let link = json!({ "source_id": id, "target_id": "ffffffff", "edge_type": "supersedes" });
    assert_eq!(memory.call("link_decisions", &link)["isError"]["error"], "validation_error");
    assert_eq!(memory.call("get_graph", &json!({ "node_id": id }))["edges"], json!([]));
}

#[test]
fn what_was_edited_or_reviewed_is_found_and_counted_at_once() {
    let mut memory = plain();
    let id = memory.log("Use PostgreSQL for orders", 0.9);
    let find = json!({ "query": "cassandra", "retrieval_mode": "keyword" });
    assert_eq!(memory.call("query_decisions", &find)["total"], 0);
    memory.call("update_decision", &json!({ "id": id, "decision": "Use Cassandra for orders" }));
    assert_eq!(memory.call("query_decisions", &find)["total"], 1);
    memory.call("review_outcome", &json!({ "id": id, "outcome": "success" }));
    assert_eq!(memory.call("get_reason_stats", &json!({}))["reviewedDecisions"], 1);
}

#[test]
fn guardrails_are_those_that_were_given_and_all_of_them_can_fire() {
    assert_eq!(plain().call("check_action", &json!({ "description": "x" }))["warnings"], json!([]));
    let rules = json!([{ "id": "sure", "condition": { "confidence": "< 0.5" }, "action": "block" }]);
    let mut memory = Memory::new(&json!({ "guardrails": rules }));
    let claims = json!({ "description": "x", "confidence": 0.2, "context": { "confidence": 0.9 } });
    let checked = memory.call("check_action", &claims);
    assert_eq!(checked["allowed"], false);
    let finding = &checked["violations"][0];
    assert_eq!((&finding["guardrail_id"], &finding["guardrailId"]), (&json!("sure"), &json!("sure")));
}

#[test]
fn rules_about_records_can_refuse_them() {
    let rules = json!([{ "id": "thought", "condition": "action.phase == 'record' && !action.has_deliberation", "action": "block" }]);
    let mut memory = Memory::new(&json!({ "guardrails": rules, "enforce_record_guardrails": true }));
    let record = json!({ "decision": "Use PostgreSQL", "confidence": 0.5, "category": "tooling" });
    let refused = memory.call("log_decision", &record);
    assert!(refused["success"] == false || refused.get("isError").is_some(), "{refused}");
    let size: Value = serde_json::from_str(&api::call(&mut memory.session, "size", "{}").unwrap()).unwrap();
    assert_eq!(size["done"]["size"], 0);
}

/// Rules of the action that ran on the record alone refused every decision of the categories of the preset.
#[test]
fn a_reviewed_action_is_recorded_under_enforced_rules() {
    let options = json!({ "guardrail_presets": ["cornerstone"], "enforce_record_guardrails": true });
    let mut memory = Memory::new(&options);
    memory.call("record_thought", &json!({ "text": "The old linter is not maintained" }));
    let reason = |kind: &str| json!({ "type": kind, "text": "measured on our code" });
    let mut action = json!({
        "action": { "description": "Move to the new linter", "category": "tooling", "confidence": 0.8, "context": {} },
        "reasons": [reason("analysis"), reason("empirical")], "tags": ["lint"], "pattern": "tools are maintained",
    });
    assert_eq!(memory.call("pre_action", &action)["allowed"], false);
    action["action"]["context"]["code_review"] = true.into();
    let done = memory.call("pre_action", &action);
    assert!(done["allowed"] == true && done["decisionId"].is_string(), "{done}");
    // A record has no field for a code review.
    memory.call("record_thought", &json!({ "text": "So is the old formatter" }));
    let logged = memory.call("log_decision", &json!({
        "decision": "Move to the new formatter", "confidence": 0.8, "category": "tooling", "context": "The old one is slow",
        "reasons": [reason("analysis"), reason("empirical")], "tags": ["lint"], "pattern": "tools are maintained",
    }));
    assert!(logged["id"].is_string(), "{logged}");
}

#[test]
fn an_action_is_checked_as_the_category_that_it_is_recorded_as() {
    let rules = json!([{ "id": "frozen", "condition_category": "process", "action": "block" }]);
    let mut memory = Memory::new(&json!({ "guardrails": rules }));
    let action = json!({ "action": { "description": "Ship", "confidence": 0.8 } });
    assert_eq!(memory.call("pre_action", &action)["allowed"], false);
    let said = json!({ "action": { "description": "Ship", "confidence": 0.8, "context": { "category": "tooling" } } });
    let done = memory.call("pre_action", &said);
    let found = memory.call("get_decision", &json!({ "id": done["decisionId"] }));
    assert_eq!(found["decision"]["category"], "tooling");
}

#[test]
fn required_tags_are_the_tags_of_the_action() {
    let rules = json!([{ "id": "tagged", "requires": { "has_tags": true }, "action": "block" }]);
    let mut memory = Memory::new(&json!({ "guardrails": rules }));
    let tagged = json!({ "action": { "description": "Ship", "confidence": 0.8 }, "tags": ["release"] });
    assert_eq!(memory.call("pre_action", &tagged)["allowed"], true);
    let claims = json!({ "action": { "description": "Ship", "confidence": 0.8, "context": { "has_tags": true } } });
    assert_eq!(memory.call("pre_action", &claims)["allowed"], false);
}

#[test]
fn what_rules_say_of_the_record_is_told_to_who_takes_an_action() {
    let rules = json!([
        { "id": "thin", "condition": "action.phase == 'record' && action.reason_count == 0", "action": "warn" },
    ]);
    let action = json!({ "action": { "description": "Ship", "confidence": 0.8 } });
    let mut memory = Memory::new(&json!({ "guardrails": rules }));
    let told = memory.call("pre_action", &action);
    assert!(told["allowed"] == true && told["decisionId"].is_string(), "{told}");
    let ids: Vec<&Value> =
        told["guardrail_warnings"].as_array().unwrap().iter().map(|one| &one["guardrail_id"]).collect();
    assert_eq!(ids, ["thin"]);
    let strict =
        json!([{ "id": "low", "condition": "action.phase == 'record'", "action": "block", "message": "say more" }]);
    let mut memory = Memory::new(&json!({ "guardrails": strict, "enforce_record_guardrails": true }));
    let refused = memory.call("pre_action", &action);
    assert_eq!((&refused["allowed"], &refused["blockReasons"]), (&json!(false), &json!(["say more"])));
    assert_eq!(refused["guardrailResults"][0]["guardrailId"], "low");
}

/// What the store itself adds to a decision never makes it too large.
#[test]
fn what_was_collected_fits_the_record() {
    let mut memory = Memory::new(&json!({ "limits": { "steps": 3, "text_bytes": 64 } }));
    for n in 0..5 {
        memory.call("record_thought", &json!({ "text": format!("Thought {n}") }));
    }
    memory.call("query_decisions", &json!({ "query": "a question that is long, so that what is noted of it is too" }));
    let id = memory.log("Use PostgreSQL", 0.8);
    let found = memory.call("get_decision", &json!({ "id": id }));
    let inputs = found["decision"]["deliberation"]["inputs"].as_array().unwrap();
    let texts: Vec<&str> = inputs.iter().map(|input| input["text"].as_str().unwrap()).collect();
    assert_eq!((texts.len(), &texts[..2]), (3, &["Thought 3", "Thought 4"][..]), "{texts:?}");
    assert!(texts[2].starts_with("Queried 'a question") && texts[2].len() <= 64, "{texts:?}");
    // A pattern is longer than the text that it is made of.
    plain().log(&format!("Latencies: {}", "5s 3s ".repeat(800)), 0.8);
}

#[test]
fn the_beginning_of_an_id_that_is_shown_is_taken() {
    let mut memory = plain();
    let record = json!({ "id": "decision-2026-1", "decision": "Use PostgreSQL", "date": "2026-01-01", "stakes": "high",
        "category": "tooling", "confidence": 0.5, "status": "pending" });
    api::call(&mut memory.session, "import", &json!({ "snapshot": [record] }).to_string()).unwrap();
    let due = memory.call("ready", &json!({}));
    let id = &due["actions"][0]["decisionId"];
    assert_eq!(id, "decision");
    assert_eq!(memory.call("update_decision", &json!({ "id": id, "tags": ["db"] }))["id"], "decision-2026-1");
    assert_eq!(memory.call("review_outcome", &json!({ "id": id, "outcome": "success" }))["success"], true);
}
