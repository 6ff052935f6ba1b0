//! The records of the gateway, and what its options read.

use serde_json::{Value, json};
use ts_rs::TypeVisitor;

use contextweaver_base::Result;
use contextweaver_gateway::{
    AcceptedTools, CachePolicy, CallStep, FinishedReply, FoundPrompt, FoundResource, GatewayOptions, GatewayStats,
    ListedServer, NextStep, PinState, RetryPolicy, RoutedTools, ServerOptions, ToolList,
};

use super::inputs::{Input, Reader, ask, closed};

/// Visits what the operations of a gateway answer.
pub fn visit(visitor: &mut impl TypeVisitor) {
    visitor.visit::<AcceptedTools>();
    // It is written within the next step.
    visitor.visit::<CallStep>();
    visitor.visit::<FinishedReply>();
    visitor.visit::<FoundPrompt>();
    visitor.visit::<FoundResource>();
    visitor.visit::<GatewayStats>();
    visitor.visit::<ListedServer>();
    visitor.visit::<NextStep>();
    visitor.visit::<PinState>();
    visitor.visit::<RoutedTools>();
    visitor.visit::<ToolList>();
}

/// Reads options in which a part is as given.
fn with(options: Value) -> Result<()> {
    GatewayOptions::from_value(options).map(drop)
}

/// A rule with something in each field: in a rule, null is not the same as nothing.
fn rule(offered: &Value) -> Value {
    let mut rule = offered.clone();
    for (field, given) in rule.as_object_mut().into_iter().flatten().filter(|(_, given)| given.is_null()) {
        *given = match field.as_str() {
            "meta_tool" => json!("tool_view"),
            "tags" => json!(["x"]),
            "read_only" | "destructive" => json!(true),
            _ => json!("x"),
        };
    }
    if offered["action"].is_null() {
        rule.as_object_mut().map(|rule| rule.remove("action"));
    }
    rule
}

/// Parts of the options by the names of their types, with the fields of the package's type.
const INPUTS: &[(&str, &str, Reader)] = &[
    (
        "GatewayRuntimeOptions",
        "mode search_above servers policy rate_limits retry cache visibility preset tolerant_args validate \
         pinned_tools recent_tools drift lint pins accepted pins_lost meta_allow names tools result_tokens \
         searching_clients",
        Reader::Function(with),
    ),
    (
        "ToolOverride",
        "name description hide arguments result_tokens",
        Reader::Function(|value| with(json!({ "servers": [], "tools": { "a__x": value } }))),
    ),
    ("ToolPolicy", "default rules", Reader::Function(|value| with(json!({ "servers": [], "policy": value })))),
    (
        "PolicyRule",
        "action meta_tool namespace tool server caller tags read_only destructive reason",
        Reader::Function(|value| with(json!({ "servers": [], "policy": { "rules": [rule(&value)] } }))),
    ),
    (
        "GatewayRateLimits",
        "tool_execute tool_view tool_browse per_tool",
        Reader::Function(|value| with(json!({ "servers": [], "rate_limits": value }))),
    ),
    (
        "CallLimits",
        "max_calls_per_minute max_calls_per_session",
        Reader::Function(|value| with(json!({ "servers": [], "rate_limits": { "tool_view": value } }))),
    ),
    (
        "VisibilityProfile",
        "name exclude_namespaces include_namespaces exclude_domains include_domains exclude_risk_levels \
         exclude_lifecycles allow_side_effects environments",
        Reader::Function(|value| with(json!({ "servers": [], "visibility": value }))),
    ),
    (
        "GatewayToolNames",
        "drilldown recall search_tools call_tool",
        Reader::Function(|value| with(json!({ "servers": [], "names": value }))),
    ),
];

/// Asks the gateway about every part of its options.
pub fn inputs() -> Vec<Input> {
    let mut all: Vec<Input> = INPUTS.iter().map(|(name, fields, reader)| ask(name, fields, reader)).collect();
    all.push(closed::<CachePolicy>("CachePolicy"));
    all.push(closed::<RetryPolicy>("RetryPolicy"));
    all.push(closed::<ServerOptions>("GatewayServer"));
    all.sort_by_key(|input| input.name);
    all
}
