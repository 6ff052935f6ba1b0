//! The rules of messages, as the providers' documentation tells them.

use std::collections::BTreeSet;

use serde_json::Value;

use super::list;

type Verdict = Result<(), String>;

fn ensure(holds: bool, rule: &str) -> Verdict {
    if holds { Ok(()) } else { Err(rule.to_owned()) }
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// Checks messages of Anthropic.
pub fn anthropic(messages: &[Value]) -> Verdict {
    let mut ids = BTreeSet::new();
    let mut open: Vec<String> = Vec::new();
    let mut server: BTreeSet<String> = BTreeSet::new();
    for (index, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or("");
        ensure(role == ["user", "assistant"][index % 2], "user and assistant alternate, the user begins")?;
        if let Some(text) = message["content"].as_str() {
            ensure(!is_blank(text), "content is not blank")?;
            let is_last = role == "assistant" && index + 1 == messages.len();
            ensure(
                !is_last || text.trim_end() == text,
                "the last message of the assistant has no white space at its end",
            )?;
            ensure(open.is_empty(), "every call has its result in the next message")?;
            continue;
        }
        let blocks = list(&message["content"]);
        ensure(!blocks.is_empty(), "content is not empty")?;
        let kinds: Vec<&str> = blocks.iter().map(|block| block["type"].as_str().unwrap_or("")).collect();
        let results: Vec<String> = blocks
            .iter()
            .filter(|block| block["type"] == "tool_result")
            .map(|block| text(block, "tool_use_id"))
            .collect();
        if role == "user" {
            ensure(kinds.iter().take(results.len()).all(|kind| *kind == "tool_result"), "results come first")?;
            let (given, wanted): (BTreeSet<_>, BTreeSet<_>) = (results.iter().collect(), open.iter().collect());
            ensure(given == wanted && results.len() == given.len(), "the results are those of the calls before")?;
            open.clear();
            ensure(!kinds.iter().any(|kind| kind.ends_with("thinking")), "the user does not think")?;
        } else {
            ensure(results.is_empty(), "the assistant gives no results")?;
            let is_thinking = |kind: &str| kind.ends_with("thinking");
            if kinds.iter().any(|kind| is_thinking(kind)) {
                ensure(is_thinking(kinds[0]), "thinking comes first")?;
                ensure(!is_thinking(kinds[kinds.len() - 1]), "thinking does not come last")?;
            }
        }
        for block in &blocks {
            match block["type"].as_str().unwrap_or("") {
                "text" => ensure(block["text"].as_str().is_some_and(|text| !is_blank(text)), "text is not blank")?,
                "tool_use" => {
                    let (id, name) = (text(block, "id"), text(block, "name"));
                    let is_plain = |text: &str| text.chars().all(|ch| ch.is_ascii_alphanumeric() || "_-".contains(ch));
                    ensure(!id.is_empty() && is_plain(&id), "ids are of letters, digits, _ and -")?;
                    ensure(
                        !name.is_empty() && name.len() <= 64 && is_plain(&name),
                        "names are of letters, digits, _ and -",
                    )?;
                    ensure(block["input"].is_object(), "input is an object")?;
                    ensure(ids.insert(id.clone()), "ids are unique")?;
                    open.push(id);
                }
                "server_tool_use" | "mcp_tool_use" => drop(server.insert(text(block, "id"))),
                kind if kind.ends_with("_tool_result") => {
                    ensure(server.remove(&text(block, "tool_use_id")), "a result of a server tool has its call")?;
                }
                _ => {}
            }
        }
        let is_last = index + 1 >= messages.len() - usize::from(role == "assistant" && index + 2 == messages.len());
        ensure(is_last || server.is_empty() || role == "user", "a server tool has its result")?;
    }
    Ok(())
}

fn text(block: &Value, key: &str) -> String {
    block[key].as_str().unwrap_or("").to_owned()
}

fn is_of_user(content: &Value) -> bool {
    matches!(content.get("role").map_or("user", |role| role.as_str().unwrap_or("")), "user" | "function")
}

/// Checks contents of Gemini: what the user says may follow what functions answered.
pub fn gemini(contents: &[Value]) -> Verdict {
    let mut calls: Vec<Value> = Vec::new();
    for (index, content) in contents.iter().enumerate() {
        let role = content.get("role").map_or("user", |role| role.as_str().unwrap_or(""));
        let is_user = is_of_user(content);
        ensure(is_user || role == "model", "roles are user, function and model")?;
        let follows = index > 0 && is_of_user(&contents[index - 1]);
        let is_result = |part: &Value| part.get("functionResponse").or(part.get("function_response")).is_some();
        let has_results = |content: &Value| list(&content["parts"]).iter().any(is_result);
        let is_behind_results = follows && is_user && has_results(&contents[index - 1]) && !has_results(content);
        ensure(is_user != follows || is_behind_results, "user and model alternate, the user begins")?;
        let parts = list(&content["parts"]);
        ensure(!parts.is_empty(), "a content has parts")?;
        let inner = |camel: &str, snake: &str| -> Vec<Value> {
            parts.iter().filter_map(|part| part.get(camel).or_else(|| part.get(snake))).cloned().collect()
        };
        let responses = inner("functionResponse", "function_response");
        if is_user {
            ensure(responses.len() == calls.len(), "as many responses as calls")?;
            let names = |list: &[Value], key: &str| list.iter().map(|entry| entry[key].to_string()).collect::<Vec<_>>();
            let has_ids = responses.iter().all(|response| response.get("id").is_some());
            if has_ids {
                let (mut given, mut wanted) = (names(&responses, "id"), names(&calls, "id"));
                given.sort();
                wanted.sort();
                ensure(given == wanted, "responses have the ids of the calls")?;
            } else {
                ensure(names(&responses, "name") == names(&calls, "name"), "responses are in the order of the calls")?;
            }
            ensure(responses.iter().all(|response| response["response"].is_object()), "a response is an object")?;
            ensure(role == "user" || responses.len() == parts.len(), "a function gives responses only")?;
        } else {
            ensure(responses.is_empty(), "the model gives no responses")?;
        }
        calls = inner("functionCall", "function_call");
        ensure(!is_user || calls.is_empty(), "the user makes no calls")?;
        for call in &calls {
            ensure(call.get("args").is_none_or(|args| args.is_object() || args.is_null()), "args are an object")?;
            ensure(
                call["name"].as_str().is_some_and(|name| !name.is_empty() && name.len() <= 64),
                "a call has a name",
            )?;
        }
        for part in &parts {
            let is_signed = part.get("thoughtSignature").or_else(|| part.get("thought_signature")).is_some();
            let is_thought = part["thought"] == true;
            if let Some(text) = part.get("text").filter(|text| !text.is_null() || part.as_object().unwrap().len() == 1)
            {
                ensure(
                    is_signed || is_thought || text.as_str().is_some_and(|text| !is_blank(text)),
                    "text is not blank",
                )?;
            }
            ensure(
                part["thoughtSignature"] != Value::Null || part.get("thoughtSignature").is_none(),
                "no null signature",
            )?;
        }
    }
    Ok(())
}
