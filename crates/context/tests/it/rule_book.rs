//! What the caller adds, corrects and forgets of standing instructions, and the function that finds them in its place.

use contextweaver_base::limits;
use contextweaver_context::{
    BuildRequest, ContextManager, Conversation, JournalOptions, ManagerOptions, NewRule, Outcome, RuleCorrection,
    RuleState, StandingRule, StatementKind,
};
use contextweaver_convert::providers::Format;
use contextweaver_model::{ContextItem, ItemKind, Phase};
use serde_json::{Value, json};

use crate::support::build;

fn kept() -> ManagerOptions {
    ManagerOptions::default()
}

fn talked(turns: &[&str]) -> ContextManager {
    let mut manager = ContextManager::new(kept());
    for (n, turn) in turns.iter().enumerate() {
        say(&mut manager, &format!("u{n}"), turn);
    }
    manager
}

fn say(manager: &mut ContextManager, id: &str, text: &str) {
    manager.ingest(ContextItem::new(id, ItemKind::UserTurn, text)).unwrap();
    for n in 0..12 {
        let talk = "harbour meadow lantern quarry velvet thunder pebble orchard ".repeat(5);
        manager
            .ingest(ContextItem::new(format!("{id}-a{n}"), ItemKind::AgentMsg, format!("{talk}{n} of {id}")))
            .unwrap();
    }
}

fn new(text: &str) -> NewRule {
    NewRule { text: text.to_owned(), kind: None, id: None }
}

fn add(manager: &mut ContextManager, text: &str) -> StandingRule {
    manager.add_rule(&new(text)).unwrap().done().unwrap()
}

fn correct(manager: &mut ContextManager, id: &str, correction: &RuleCorrection) -> StandingRule {
    manager.correct_rule(id, correction).unwrap().done().unwrap()
}

fn words(text: &str) -> RuleCorrection {
    RuleCorrection { text: Some(text.to_owned()), ..RuleCorrection::default() }
}

fn states(manager: &mut ContextManager) -> Vec<(String, String, RuleState)> {
    let rules = manager.rules().done().unwrap();
    rules.into_iter().map(|rule| (rule.id, rule.text, rule.state)).collect()
}

fn in_force(manager: &mut ContextManager) -> Vec<String> {
    let states = states(manager);
    states.into_iter().filter(|(_, _, state)| *state == RuleState::InForce).map(|(_, text, _)| text).collect()
}

fn prompt(manager: &mut ContextManager) -> String {
    let request = BuildRequest { budget_tokens: Some(1200), ..BuildRequest::new(Phase::Answer, "orchard") };
    build(manager, &request).unwrap().prompt
}

fn sync(manager: &mut ContextManager, messages: &Value) {
    let messages = messages.as_array().cloned().unwrap();
    let conversation = Conversation::new(Format::parse("openai-chat").unwrap(), messages);
    manager.sync_messages(conversation).unwrap().done().unwrap();
}

/// The manager, read from its snapshot and from its journal.
fn stored(manager: &ContextManager) -> [ContextManager; 2] {
    let snapshot = serde_json::to_value(manager.snapshot()).unwrap();
    let journal = manager.export_since(None, &JournalOptions::default()).unwrap().parts.join("\n");
    let restored = ContextManager::restore_journal(&journal, kept(), |_| None).unwrap();
    assert!(restored.findings.is_empty(), "{:?}", restored.findings);
    [ContextManager::from_json(snapshot, kept()).unwrap(), restored.manager]
}

#[test]
fn what_is_added_holds_until_it_is_forgotten() {
    let mut manager = talked(&["Reports are in English."]);
    let added = add(&mut manager, "Never touch the folder legal.");
    assert_eq!((added.id.as_str(), added.kind, added.item_id), ("rule:0", StatementKind::Prohibition, None));
    assert_eq!(added.why, "added by the caller");
    say(&mut manager, "u9", "From now on you may touch the folder legal. Forget that rule about the folder legal.");
    assert!(in_force(&mut manager).contains(&"Never touch the folder legal.".to_owned()));
    assert!(prompt(&mut manager).contains("- Never touch the folder legal. (added)"));
    for mut again in stored(&manager) {
        assert_eq!(states(&mut again), states(&mut manager));
        assert_eq!(prompt(&mut again), prompt(&mut manager));
    }
    let forgotten = manager.forget_rule("rule:0").unwrap().done().unwrap();
    assert_eq!(forgotten.text, "Never touch the folder legal.");
    assert!(!prompt(&mut manager).contains("(added)"));
    assert_eq!(add(&mut manager, "Never touch the folder legal.").id, "rule:1", "an id is not used twice");
}

#[test]
fn the_same_words_are_not_added_twice() {
    let mut manager = talked(&[]);
    let first = add(&mut manager, "Answer in Spanish.");
    assert_eq!(add(&mut manager, "Answer  in Spanish."), first);
    assert_eq!(states(&mut manager).len(), 1);
    let named = NewRule { id: Some("spanish".into()), ..new("Answer in Spanish always.") };
    manager.add_rule(&named).unwrap().done().unwrap();
    let error = manager.add_rule(&NewRule { text: "Answer in French.".into(), ..named }).unwrap_err();
    assert_eq!((error.code().as_str(), error.path()), ("DUPLICATE_ID", "/id"));
}

#[test]
fn what_is_forgotten_does_not_come_back_and_the_others_keep_their_ids() {
    let mut manager = talked(&["Never push to main. Call me Jo. Always answer in Spanish.", "Thanks, that was it."]);
    assert_eq!(manager.forget_rule("u0#2").unwrap().done().unwrap().text, "Call me Jo.");
    let left = states(&mut manager);
    assert_eq!(left.iter().map(|(id, ..)| id.as_str()).collect::<Vec<_>>(), ["u0#1", "u0#3"]);
    for mut again in stored(&manager) {
        assert_eq!(states(&mut again), left);
    }
    // A later turn that says it is another statement.
    say(&mut manager, "u7", "Call me Jo.");
    assert!(states(&mut manager).iter().any(|(id, ..)| id == "u7#1"));
}

#[test]
fn a_turn_that_is_read_again_brings_nothing_back() {
    let mut manager = ContextManager::new(kept());
    let rule = json!({ "role": "user", "content": "Never push to main. Keep replies below five lines." });
    let hello = |text: &str| json!({ "role": "user", "content": text });
    sync(&mut manager, &json!([hello("Hello there."), rule, { "role": "assistant", "content": "Fine." }]));
    let id = states(&mut manager)[0].0.clone();
    manager.forget_rule(&id).unwrap().done().unwrap();
    // The message is edited, and then written as it was: its turn is another item.
    sync(&mut manager, &json!([hello("Hello there."), hello("What now?")]));
    assert_eq!(states(&mut manager), []);
    sync(&mut manager, &json!([hello("Hello there."), rule, { "role": "assistant", "content": "Fine." }]));
    assert_eq!(in_force(&mut manager), ["Keep replies below five lines."]);
}

#[test]
fn words_that_were_said_before_do_not_stand_in_for_those_that_are_forgotten() {
    let mut manager = talked(&["Ask me above 200 euros.", "Fine.", "Ask me above 200 euros."]);
    correct(&mut manager, "u2#1", &words("Ask me above 350 euros."));
    assert_eq!(in_force(&mut manager), ["Ask me above 350 euros."]);
    manager.forget_rule("u2#1").unwrap().done().unwrap();
    assert_eq!(states(&mut manager), []);
}

#[test]
fn a_prompt_that_comes_back_as_history_brings_nothing_back() {
    let block = "[STANDING INSTRUCTIONS]\n- Never push to main. Call me Jo. (u0)\n- Ask above 200 euros. (u1)";
    let mut manager = talked(&["Never push to main. Call me Jo.", "Ask above 200 euros."]);
    manager.forget_rule("u0#1").unwrap().done().unwrap();
    correct(&mut manager, "u1#1", &words("Ask above 350 euros."));
    let before = in_force(&mut manager);
    assert_eq!(before, ["Call me Jo.", "Ask above 350 euros."]);
    say(&mut manager, "h", block);
    let mut after = in_force(&mut manager);
    after.sort();
    assert_eq!(after, ["Ask above 350 euros.", "Call me Jo."]);
}

#[test]
fn what_is_corrected_stands_as_corrected_and_says_so() {
    let mut manager = talked(&["Ask me above 200 euros."]);
    let corrected = correct(&mut manager, "u0#1", &words("Ask me above 350 euros."));
    assert_eq!(
        (corrected.text.as_str(), corrected.said.as_deref()),
        ("Ask me above 350 euros.", Some("Ask me above 200 euros."))
    );
    assert_eq!((corrected.id.as_str(), corrected.state), ("u0#1", RuleState::InForce));
    let said = prompt(&mut manager);
    let (turn, line) = (said.find("Ask me above 200 euros."), said.find("- Ask me above 350 euros. (u0, corrected)"));
    assert!(line.is_some() && turn < line, "{said}");
    for mut again in stored(&manager) {
        assert_eq!(states(&mut again), states(&mut manager));
    }
    let withdrawn = RuleCorrection { state: Some(RuleState::Withdrawn), ..RuleCorrection::default() };
    assert_eq!(correct(&mut manager, "u0#1", &withdrawn).state, RuleState::Withdrawn);
    assert!(!prompt(&mut manager).contains("350"));
    let kind = RuleCorrection {
        kind: Some(StatementKind::Limit),
        state: Some(RuleState::InForce),
        ..RuleCorrection::default()
    };
    let again = correct(&mut manager, "u0#1", &kind);
    assert_eq!((again.text.as_str(), again.kind), ("Ask me above 350 euros.", StatementKind::Limit));
}

#[test]
fn what_was_replaced_holds_again_when_its_successor_is_forgotten_or_the_caller_says_so() {
    let turns = ["Refunds above 200 euros go to me first.", "From now on only refunds above 350 euros go to me first."];
    let mut manager = talked(&turns);
    assert_eq!(states(&mut manager)[0].2, RuleState::Replaced);
    let holds = RuleCorrection { state: Some(RuleState::InForce), ..RuleCorrection::default() };
    correct(&mut manager, "u0#1", &holds);
    assert_eq!(in_force(&mut manager).len(), 2);
    let mut manager = talked(&turns);
    manager.forget_rule("u1#1").unwrap().done().unwrap();
    assert_eq!(in_force(&mut manager), ["Refunds above 200 euros go to me first."]);
}

#[test]
fn refused_calls_say_why_and_change_nothing() {
    let mut manager = talked(&["Never push to main. Call me Jo."]);
    let before = serde_json::to_string(&manager.snapshot()).unwrap();
    let hint = |error: &contextweaver_base::Error| error.hint_text().unwrap_or_default().to_owned();
    let error = manager.forget_rule("u0#7").unwrap_err();
    assert_eq!((error.code().as_str(), error.path()), ("NOT_FOUND", "/id"));
    assert!(hint(&error).contains("u0#1"), "{}", hint(&error));
    let error = manager.correct_rule("nothing like it", &words("Never.")).unwrap_err();
    assert_eq!(hint(&error), "there are: u0#1 u0#2");
    let refused = [
        (json!({}), "MISSING_FIELD", "/text"),
        (json!({ "text": "  . " }), "OUT_OF_RANGE", "/text"),
        (json!({ "text": "word ".repeat(90) }), "OUT_OF_RANGE", "/text"),
        (json!({ "text": "Never.", "kind": "law" }), "INVALID_INPUT", "/kind"),
        (json!({ "text": "Never.", "id": "a#1" }), "INVALID_INPUT", "/id"),
        (json!({ "text": "Never.", "state": "once" }), "UNKNOWN_FIELD", "/state"),
    ];
    for (value, code, path) in refused {
        let error = NewRule::from_value(value.clone()).unwrap_err();
        assert_eq!((error.code().as_str(), error.path()), (code, path), "{value}");
    }
    let refused = [
        (json!({ "id": "u0#1" }), "MISSING_FIELD", ""),
        (json!({ "id": "u0#1", "state": "replaced" }), "INVALID_INPUT", "/state"),
        (json!({ "id": "u0#1", "text": "" }), "OUT_OF_RANGE", "/text"),
    ];
    for (value, code, path) in refused {
        let error = RuleCorrection::from_value(value.clone()).unwrap_err();
        assert_eq!((error.code().as_str(), error.path()), (code, path), "{value}");
    }
    assert_eq!(serde_json::to_string(&manager.snapshot()).unwrap(), before);
    let mut off = ContextManager::new(ManagerOptions { standing_rules: false, ..ManagerOptions::default() });
    assert_eq!(off.add_rule(&new("Never push.")).unwrap_err().code().as_str(), "UNSUPPORTED");
    // Stored already: each that is added is compared with all.
    let mut manager = ContextManager::new(kept());
    let added = add(&mut manager, "Never touch folder 0.").id;
    let mut stored = serde_json::to_value(manager.snapshot()).unwrap();
    let record = stored["rules"][0].to_string();
    let numbered = |n: usize| record.replace(&added, &format!("rule {n}")).replace("folder 0", &format!("folder {n}"));
    stored["rules"] = (1..limits::MAX_RULES).map(|n| serde_json::from_str::<Value>(&numbered(n)).unwrap()).collect();
    let mut manager = ContextManager::from_json(stored, kept()).unwrap();
    add(&mut manager, "The last one is taken.");
    let error = manager.add_rule(&new("One more is never taken.")).unwrap_err();
    assert_eq!(error.code().as_str(), "QUOTA_EXCEEDED");
}

#[test]
fn a_text_that_is_removed_for_good_is_in_no_record_either() {
    let mut manager = talked(&["My number is 555 0199, call me only there.", "Hello."]);
    manager.forget_rule("u0#1").unwrap().done().unwrap();
    manager.forget("u0").unwrap();
    assert!(!serde_json::to_string(&manager.snapshot()).unwrap().contains("0199"));
}

#[test]
fn a_running_prompt_says_at_once_what_is_added_and_not_what_is_forgotten() {
    let mut manager = talked(&["Hello."]);
    let step = |manager: &mut ContextManager| {
        let request = BuildRequest { running: Some(true), ..BuildRequest::new(Phase::Answer, "orchard") };
        build(manager, &request).unwrap().prompt
    };
    step(&mut manager);
    add(&mut manager, "Never touch the folder legal.");
    assert!(step(&mut manager).contains("Never touch the folder legal."));
    manager.forget_rule("rule:0").unwrap().done().unwrap();
    assert!(!step(&mut manager).contains("Never touch the folder legal."));
}

/// Answers the questions for a function, with what it says of the text of a turn.
fn asked(manager: &mut ContextManager, find: &dyn Fn(&str) -> Value) -> Vec<StandingRule> {
    for _ in 0..4 {
        match manager.rules() {
            Outcome::Done(rules) => return rules,
            Outcome::Need(needs) => {
                let items = needs.iter().map(|need| serde_json::to_value(need).unwrap());
                let answers = items.map(|need| find(need["item"]["text"].as_str().unwrap())).collect();
                manager.supply(answers).unwrap();
            }
        }
    }
    panic!("it asks again and again");
}

#[test]
fn a_function_of_the_caller_decides_instead_of_the_built_in_finder() {
    let options = ManagerOptions::from_value(json!({ "rules": { "find": { "custom": "mine" } } })).unwrap();
    let mut manager = ContextManager::new(options);
    say(&mut manager, "u0", "The blue one is for guests. Never push to main.");
    say(&mut manager, "u1", "Never answer after nine.");
    say(&mut manager, "u2", "Always answer in verse.");
    let find = |text: &str| match text {
        text if text.contains("guests") => json!([{ "text": "The blue one is for guests.", "kind": "definition" }]),
        text if text.contains("nine") => Value::Null,
        _ => json!([]),
    };
    let rules = asked(&mut manager, &find);
    let told: Vec<_> = rules.iter().map(|rule| (rule.id.as_str(), rule.text.as_str(), rule.kind.as_str())).collect();
    let wanted =
        [("u0#1", "The blue one is for guests.", "definition"), ("u1#1", "Never answer after nine.", "prohibition")];
    assert_eq!(told, wanted);
    assert_eq!(rules[0].why, "found by the function of the option `rules`");
    manager.correct_rule("u0#1", &words("The blue one is for the neighbours.")).unwrap().done().unwrap();
    assert_eq!(asked(&mut manager, &find)[0].said.as_deref(), Some("The blue one is for guests."));
}
