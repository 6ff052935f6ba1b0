//! Counts the planted facts that a digest quotes.

use contextweaver_content::digest;
use contextweaver_text::tokens::Estimator;
use serde_json::Value;

/// A result with what should be found in its digest.
pub struct Payload {
    pub name: String,
    pub media_type: String,
    pub text: String,
    pub needles: Vec<(String, String)>,
}

/// Facts found, and what they cost in tokens of `heuristic/v2`.
#[derive(Default)]
pub struct Score {
    pub hits: usize,
    pub needles: usize,
    pub tokens: u64,
    pub missed: Vec<String>,
    pub digest: String,
}

impl Score {
    pub fn add(&mut self, other: &Self) {
        self.hits += other.hits;
        self.needles += other.needles;
        self.tokens += other.tokens;
    }
}

fn payload(name: &Value, media_type: &Value, text: &Value, needles: &Value) -> Payload {
    let string = |value: &Value| value.as_str().unwrap().to_owned();
    let needle = |entry: &Value| (string(&entry["class"]), string(&entry["needle"]));
    Payload {
        name: string(name),
        media_type: string(media_type),
        text: string(text),
        needles: needles.as_array().unwrap().iter().map(needle).collect(),
    }
}

fn read(path: &str) -> Value {
    let path = format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The shared benchmark.
pub fn benchmark() -> Vec<Payload> {
    let file = read("tests/vectors/firewall/recall_benchmark.json");
    let cases = file["cases"].as_array().unwrap().iter();
    cases
        .map(|case| {
            let input = &case["input"];
            payload(&case["name"], &input["media_type"], &input["content"]["utf8"], &input["needles"])
        })
        .collect()
}

/// Our own families: those to tune with, or those held out.
pub fn families(held: bool) -> Vec<Payload> {
    let file = read("tests/quality/digest-families.json");
    let all = file["families"].as_array().unwrap().iter().filter(|one| one["held"] == held);
    all.map(|one| payload(&one["name"], &one["media_type"], &one["text"], &one["needles"])).collect()
}

/// Scores the digest of one payload.
pub fn score(payload: &Payload, room: u64) -> Score {
    let digest = digest(&payload.text, &payload.media_type, room, &Estimator::V3).text;
    let (found, missed): (Vec<_>, Vec<_>) =
        payload.needles.iter().partition(|(_, needle)| digest.contains(needle.as_str()));
    Score {
        hits: found.len(),
        needles: payload.needles.len(),
        tokens: Estimator::V2.tokens(&digest),
        missed: missed.into_iter().map(|(class, needle)| format!("{class}: {needle}")).collect(),
        digest,
    }
}
