use super::*;

fn episodes(list: &Value) -> Vec<Episode> {
    list.as_array().unwrap().iter().map(|value| Episode::from_value(value.clone(), "").unwrap()).collect()
}

fn loose() -> ConsolidationPolicy {
    ConsolidationPolicy { min_occurrences: 1, min_sessions: 1, ..ConsolidationPolicy::default() }
}

fn run(list: &Value, policy: &ConsolidationPolicy) -> ConsolidationReport {
    let options = ConsolidationOptions::default();
    consolidate(&episodes(list), &FactStore::new(), policy, &options).unwrap()
}

#[test]
fn policies_are_checked() {
    let cases = [
        (json!({"min_occurrences": 0}), "/min_occurrences"),
        (json!({"min_sessions": -1}), "/min_sessions"),
        (json!({"similarity_threshold": 1.01}), "/similarity_threshold"),
        (json!({"decay_after_days": -1}), "/decay_after_days"),
        (json!({"decay_after_day": 1}), "/decay_after_day"),
    ];
    for (value, path) in cases {
        assert_eq!(ConsolidationPolicy::closed(value, "").unwrap_err().path(), path);
    }
    let read = |value| ConsolidationPolicy::from_value(value, "").unwrap().decay_after_days;
    assert_eq!(
        (read(json!({})), read(json!({"decay_after_days": null})), read(json!({"decay_after_days": 0}))),
        (Some(90), None, Some(0))
    );
}

#[test]
fn equal_moments_keep_the_first_spelling() {
    let list = json!([
        {"episode_id": "a", "summary": "dark mode", "metadata": {"timestamp": "2026-01-01T02:00:00+02:00"}},
        {"episode_id": "b", "summary": "dark mode", "metadata": {"timestamp": "2026-01-01"}},
        {"episode_id": "c", "summary": "dark mode", "metadata": {"timestamp": "not a time"}},
        {"episode_id": "d", "summary": "dark mode", "metadata": {"timestamp": 5}},
    ]);
    let fact = &run(&list, &loose()).promoted[0];
    assert_eq!(fact.first_seen.as_deref(), Some("2026-01-01T02:00:00+02:00"));
    assert_eq!(fact.last_seen, fact.first_seen);
}

#[test]
fn sessions_compare_as_text_and_labels_take_the_maximum() {
    let list = json!([
        {"episode_id": "a", "summary": "dark mode", "metadata": {"session_id": 1}, "sensitivity": "restricted"},
        {"episode_id": "b", "summary": "dark mode", "metadata": {"session_id": "1"}},
        {"episode_id": "c", "summary": "dark mode", "metadata": {"session_id": null}},
        {"episode_id": "a", "summary": "dark mode", "metadata": {"session_id": "2"}},
    ]);
    let fact = &run(&list, &loose()).promoted[0];
    assert_eq!((fact.occurrences, fact.sessions, fact.sensitivity), (4, 3, Sensitivity::Restricted));
    assert_eq!(fact.source_episode_ids, ["a", "a", "b", "c"]);
}

#[test]
fn negation_and_other_scripts_count_outside_of_0_18() {
    let list = json!([
        {"episode_id": "a", "summary": "deploy on friday is safe"},
        {"episode_id": "b", "summary": "deploy on friday is not safe"},
        {"episode_id": "c", "summary": "тёмная тема"}, {"episode_id": "d", "summary": "тёмная тема"},
    ]);
    assert_eq!(run(&list, &loose()).clusters.len(), 3);
    let clusters = run(&list, &loose()).clusters;
    let members: Vec<_> = clusters.iter().map(|cluster| cluster.episode_ids.join(" ")).collect();
    assert_eq!(members, ["a", "b", "c d"]);
}

#[test]
fn a_threshold_of_zero_makes_one_cluster() {
    let list = json!([
        {"episode_id": "a", "summary": ""},
        {"episode_id": "b", "summary": "x y z"},
        {"episode_id": "c", "summary": "dark mode"},
    ]);
    let policy = ConsolidationPolicy { similarity_threshold: 0.0, ..loose() };
    assert_eq!(run(&list, &policy).clusters[0].canonical_text, "dark mode");
    assert_eq!(run(&list, &policy).clusters.len(), 1);
}

#[test]
fn decay_needs_a_moment_and_is_strict() {
    let list = episodes(&json!([
        {"episode_id": "old", "summary": "a", "metadata": {"timestamp": "2026-01-01T00:00:00Z"}},
        {"episode_id": "edge", "summary": "b", "metadata": {"timestamp": "2026-01-01T00:00:01Z"}},
    ]));
    let policy = ConsolidationPolicy { decay_after_days: Some(1), ..loose() };
    let at = |as_of| consolidate(&list, &FactStore::new(), &policy, &ConsolidationOptions { as_of });
    assert_eq!(at(Some("2026-01-02T00:00:01")).unwrap().decayed_episode_ids, ["old"]);
    assert!(at(None).unwrap().decayed_episode_ids.is_empty());
    let error = at(Some("soon")).unwrap_err();
    assert_eq!((error.code(), error.path()), (ErrorCode::InvalidInput, "/as_of"));
}

#[test]
fn applying_twice_changes_nothing_more() {
    let list = json!([{"episode_id": "a", "summary": "dark mode"}]);
    let mut report = run(&list, &loose());
    let mut facts = FactStore::new();
    assert!(report.summary().ends_with("applied=False"));
    report.apply(&mut facts, &loose()).unwrap();
    let once = json!(facts);
    report.apply(&mut facts, &loose()).unwrap();
    assert_eq!(json!(facts), once);
    assert!(report.summary().ends_with("applied=True"));
}
