//! How many credentials are masked, and how much ordinary text is kept, on sets kept outside the repository: those below
//! `../shared/bench/secrets`, or where `CONTEXTWEAVER_SECRETS` points. Skipped without them.
#![allow(clippy::unwrap_used, reason = "a test stops at the first thing that is wrong")]

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use contextweaver_test_support::{Skip, skip};
use contextweaver_text::{SECRET_MASK, contains_secret, redact_secrets};
use serde_json::Value;

/// Least share of masked credentials in each group of cases: by class and, for classes known by their own form, by what
/// is around them.
const FLOORS: [(&str, f64); 7] = [
    ("all", 0.95),
    ("token in plain", 0.93),
    ("token in prose", 0.93),
    ("token in json-neutral", 0.93),
    ("class keyword", 0.85),
    ("class context", 0.85),
    ("literal", 0.92),
];

fn folder() -> PathBuf {
    std::env::var_os("CONTEXTWEAVER_SECRETS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/bench/secrets"), PathBuf::from)
}

/// Reads lines of JSON, packed or not.
fn read(name: &str) -> Option<Vec<Value>> {
    let mut text = String::new();
    if let Ok(file) = std::fs::File::open(folder().join(format!("{name}.jsonl.gz"))) {
        flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    } else {
        text = std::fs::read_to_string(folder().join(format!("{name}.jsonl"))).ok()?;
    }
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// Masks a text, and holds that masking it again changes nothing.
fn mask(text: &str) -> String {
    let masked = redact_secrets(text, SECRET_MASK).into_owned();
    assert_eq!(redact_secrets(&masked, SECRET_MASK), masked, "masked twice");
    assert_eq!(contains_secret(text), masked != text, "{text}");
    masked
}

/// Reports whether eight characters of a random part, or all of a shorter one, are left.
fn survives(masked: &str, random: &str) -> bool {
    let size = random.len().min(8);
    (0..=random.len() - size).any(|at| random.get(at..at + size).is_some_and(|piece| masked.contains(piece)))
}

/// Counts of what holds, and of all.
type Shares = BTreeMap<String, (usize, usize)>;

fn count(shares: &mut Shares, group: String, holds: bool) {
    let (some, all) = shares.entry(group).or_default();
    *some += usize::from(holds);
    *all += 1;
}

fn print(shares: &Shares) {
    for (group, (some, all)) in shares {
        println!("{:5.1} % of {all:4} {group}", 100.0 * *some as f64 / *all as f64);
    }
}

#[test]
fn credentials_are_masked() {
    let Some(cases) = read("secrets") else {
        return skip(Skip::Test, "no labelled credentials");
    };
    let (mut groups, mut rules) = (Shares::new(), Shares::new());
    let mut misses: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for case in &cases {
        let field = |name: &str| case[name].as_str().unwrap();
        let (class, carrier) = (field("class"), field("carrier"));
        let masked = mask(field("text"));
        let hidden = case["random"].as_array().unwrap().iter().all(|part| !survives(&masked, part.as_str().unwrap()));
        count(&mut groups, format!("class {class}"), hidden);
        // Identifiers and public keys are no credentials.
        if class == "id" {
            continue;
        }
        count(&mut rules, field("rule").to_owned(), hidden);
        if case["gitleaks"] == true {
            count(&mut groups, "found by the expression of the rule".to_owned(), hidden);
        }
        for group in ["all".to_owned(), carrier.to_owned(), format!("{class} in {carrier}")] {
            count(&mut groups, group, hidden);
        }
        if !hidden {
            misses.entry(field("rule").to_owned()).or_default().push(format!("{carrier}: {}", field("text")));
        }
    }
    print(&groups);
    let fully = rules.values().filter(|(masked, all)| masked == all).count();
    let never = rules.values().filter(|(masked, _)| *masked == 0).count();
    println!("{fully} of {} rules masked in every case, {never} in none", rules.len());
    for (rule, texts) in &misses {
        println!("{} missed of {rule}, such as {:?}", texts.len(), texts.iter().take(2).collect::<Vec<_>>());
    }
    for (group, floor) in FLOORS {
        let (masked, all) = groups[group];
        assert!(masked as f64 >= floor * all as f64, "{group}: {masked} of {all} are masked");
    }
}

#[test]
fn ordinary_texts_are_kept() {
    let Some(cases) = read("survivors") else {
        return skip(Skip::Test, "no labelled ordinary texts");
    };
    let (mut kept, mut lost) = (Shares::new(), Vec::new());
    for case in &cases {
        let text = case["text"].as_str().unwrap();
        let masked = mask(text);
        let category = case["category"].as_str().unwrap();
        // Examples of real form and public keys are masked rightly.
        let counts = !category.starts_with("gitleaks");
        let parts = case["must_survive"].as_array().unwrap();
        let whole = parts.iter().all(|part| masked.contains(part.as_str().unwrap()));
        count(&mut kept, format!("kept of {category}"), whole);
        if counts {
            count(&mut kept, "kept of all ordinary texts".to_owned(), whole);
        }
        if !whole {
            println!("{} {text:?}", if counts { "lost" } else { "masked" });
            if counts {
                lost.push(text);
            }
        }
    }
    print(&kept);
    assert!(lost.is_empty(), "{} lost: {lost:?}", lost.len());
}
