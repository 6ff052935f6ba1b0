use serde_json::json;

use super::*;
use crate::timestamps::parse;

fn sample(confidence: f64, value: f64) -> CalibrationSample {
    CalibrationSample { confidence: Some(confidence), value: Some(value) }
}

#[test]
fn gaps_have_names() {
    for (gap, name) in [
        (0.0, "well_calibrated"),
        (0.049, "well_calibrated"),
        (-0.05, "slightly_overconfident"),
        (-0.1, "slightly_overconfident"),
        (-0.101, "overconfident"),
        (0.05, "slightly_underconfident"),
        (0.1, "slightly_underconfident"),
        (0.101, "underconfident"),
    ] {
        assert_eq!(tendency(gap), name, "{gap}");
    }
}

#[test]
fn buckets_hold_each_confidence_once() {
    for (confidence, name) in
        [(1.0, "0.9-1.0"), (0.9, "0.9-1.0"), (0.899, "0.7-0.9"), (0.7, "0.7-0.9"), (0.5, "0.5-0.7"), (0.0, "0.0-0.5")]
    {
        let found = buckets(&[sample(confidence, 1.0); 3]);
        assert_eq!((found.len(), found[0].bucket, found[0].decisions), (1, name, 3), "{confidence}");
        assert!(buckets(&[sample(confidence, 1.0); 2]).is_empty());
    }
}

#[test]
fn low_confidence_has_a_class_of_its_own() {
    let mut samples = vec![sample(0.3, 1.0), sample(0.55, 0.0)];
    samples.push(CalibrationSample { confidence: None, value: Some(1.0) });
    let spread = spread(&samples).unwrap().to_json();
    assert_eq!(spread["count"], 2);
    assert_eq!(spread["bucketCounts"]["0.5-0.6"], 2);
    assert_eq!(spread["distribution"]["0.0-0.5"], 1);
    assert_eq!(spread["distribution"]["0.5-0.6"], 1);
    assert_eq!(spread["variance"], 0.0156);
    assert!(super::spread(&[]).is_none());
}

#[test]
fn windows_hold_both_ends() {
    let now = parse("2026-03-15T12:00:00Z").unwrap();
    let on = |date: &str| Decision { created_at: date.to_owned(), ..Decision::default() };
    let window = CalibrationWindow::named("30d", now);
    for (date, inside) in [
        ("2026-02-13T00:00:00+00:00", true),
        ("2026-02-12T23:59:59+00:00", false),
        ("2026-03-15T23:59:59+00:00", true),
        ("2026-03-16T00:00:00+00:00", false),
        ("never", false),
    ] {
        assert_eq!(window.holds(&on(date)), inside, "{date}");
    }
    assert!(CalibrationWindow::named("all", now).holds(&on("never")));
    assert_eq!(window.dates(), Some(("2026-02-13".to_owned(), "2026-03-15".to_owned())));
}

#[test]
fn no_day_is_in_both_halves() {
    let now = parse("2026-03-15T12:00:00Z").unwrap();
    let reviewed = |day: i64, outcome: &str| Decision {
        created_at: crate::timestamps::date(now - day * 86_400_000),
        confidence: Some(0.9),
        status: "reviewed".to_owned(),
        outcome: Some(outcome.to_owned()),
        ..Decision::default()
    };
    let five = |day: i64, outcome: &str| -> Vec<Decision> { (0..5).map(|_| reviewed(day, outcome)).collect() };
    let of = |recent: i64, past: i64| {
        let all = [five(recent, "failure"), five(past, "success")].concat();
        halves(&all.iter(), now)
    };
    assert!(of(0, 31).is_some() && of(30, 31).is_some() && of(30, 120).is_some());
    assert!(of(31, 60).is_none() && of(0, 30).is_none() && of(0, 121).is_none());
    let alerts = drift(&of(0, 31).unwrap(), Some("tooling"), 0.2, 0.15);
    let kinds: Vec<_> = alerts.iter().map(|alert| (alert.kind, alert.severity, alert.change_pct)).collect();
    assert_eq!(kinds, [("brier_degradation", "error", 8000.0), ("accuracy_drop", "error", -100.0)]);
}

#[test]
fn habits_are_named_from_ten_decisions_on() {
    let kinds = |count: usize, confidence: f64| -> Vec<&'static str> {
        let samples = vec![CalibrationSample { confidence: Some(confidence), value: None }; count];
        let spread = spread(&samples);
        advice(None, &[], spread.as_ref()).iter().map(|advice| advice.kind).collect()
    };
    assert_eq!(kinds(9, 0.9), ["insufficient_data"]);
    assert_eq!(kinds(10, 0.9), ["insufficient_data", "low_variance", "overconfident_habit"]);
    assert_eq!(kinds(10, 0.6), ["insufficient_data", "low_variance", "underconfident_habit"]);
    assert_eq!(json!(advice(None, &[], None))[0]["severity"], "info");
}
