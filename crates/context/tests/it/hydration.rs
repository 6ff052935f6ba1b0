//! Arguments filled from what is known, and only from that.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first thing that is wrong")]

use contextweaver_context::callbacks::Outcome;
use contextweaver_context::{ContextManager, ManagerOptions};
use contextweaver_model::{ContextItem, Fact, HydrationResult, SelectableItem};
use serde_json::{Value, json};

fn tool() -> SelectableItem {
    SelectableItem::from_value(
        json!({
            "id": "shop.refund", "kind": "tool", "name": "refund", "description": "refunds an order",
            "args_schema": {
                "type": "object",
                "properties": {
                    "order_id": { "type": "integer" },
                    "currency": { "type": "string", "enum": ["EUR", "USD"] },
                    "reason": { "type": "string" },
                    "token": { "type": "string" },
                    "id": { "type": "string" },
                },
                "required": ["order_id", "currency", "reason"],
            },
            "examples": ["refund(1)"],
        }),
        "",
    )
    .unwrap()
}

fn manager(items: &[Value]) -> ContextManager {
    let mut manager = ContextManager::new(ManagerOptions::default());
    manager.ingest_all(items.iter().map(|item| ContextItem::from_value(item.clone(), "").unwrap()).collect()).unwrap();
    manager
}

fn fact(manager: &mut ContextManager, key: &str, value: &str, sensitivity: &str) {
    let value = json!({ "key": key, "value": value, "sensitivity": sensitivity });
    let (id, fact) = Fact::with_optional_id(value, "").unwrap();
    manager.add_fact(id, fact).unwrap();
}

fn hydrate(manager: &mut ContextManager, arguments: Option<Value>) -> HydrationResult {
    let arguments = arguments.map(|value| value.as_object().unwrap().clone());
    match manager.hydrate(&tool(), arguments).unwrap() {
        Outcome::Done(result) => result,
        Outcome::Need(_) => panic!("no functions here"),
    }
}

fn item(id: &str, kind: &str, text: &str) -> Value {
    json!({ "id": id, "kind": kind, "text": text })
}

#[test]
fn without_arguments_it_is_the_schema() {
    let result = hydrate(&mut manager(&[]), None);
    assert_eq!(json!(result)["examples"], json!(["refund(1)"]));
    assert!(json!(result).get("arguments").is_none());
}

#[test]
fn facts_and_newest_items_fill_what_is_missing_and_say_so() {
    let mut manager = manager(&[
        item("c1", "tool_call", "get_order({\"orderId\": 1})"),
        item("r1", "tool_result", "{\"order\": {\"Order-ID\": 7, \"currency\": \"EUR\"}, \"id\": \"x\"}"),
    ]);
    fact(&mut manager, "reason", "damaged", "public");
    fact(&mut manager, "reason", "late", "public");
    let result = hydrate(&mut manager, Some(json!({})));
    assert_eq!(json!(result.arguments), json!({ "order_id": 7, "currency": "EUR", "reason": "late" }));
    assert_eq!(
        json!(result.context_used),
        json!([
            { "argument": "order_id", "source": { "item_id": "r1", "path": "/order/Order-ID" } },
            { "argument": "currency", "source": { "item_id": "r1", "path": "/order/currency" } },
            { "argument": "reason", "source": { "fact_id": "fact:reason:1" } },
        ])
    );
    assert_eq!(result.missing, Some(vec![]));
}

#[test]
fn what_is_given_stays_and_what_is_doubtful_is_left_out() {
    let rows = "{\"rows\": [{\"order_id\": 1}, {\"order_id\": 2}], \"currency\": \"GBP\"}";
    let mut manager = manager(&[item("old", "tool_result", "{\"order_id\": 9}"), item("new", "tool_result", rows)]);
    let result = hydrate(&mut manager, Some(json!({ "reason": "mine" })));
    assert_eq!(json!(result.arguments), json!({ "reason": "mine" }));
    assert_eq!(result.missing, Some(vec!["order_id".into(), "currency".into()]));
}

#[test]
fn nothing_comes_from_what_is_withheld() {
    let mut secret = item("r", "tool_result", "{\"order_id\": 7, \"token\": \"sk-ant-abcdefghijklmnopqrstuvwx\"}");
    let mut open = manager(&[secret.clone()]);
    assert_eq!(json!(hydrate(&mut open, Some(json!({}))).arguments), json!({ "order_id": 7 }));
    secret["sensitivity"] = json!("confidential");
    let mut manager = manager(&[secret]);
    fact(&mut manager, "currency", "EUR", "restricted");
    fact(&mut manager, "reason", "password=hunter22x", "public");
    assert_eq!(json!(hydrate(&mut manager, Some(json!({}))).arguments), json!({}));
}
