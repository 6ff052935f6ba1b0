//! What digests keep of planted facts, and what they promise for any input.

#[path = "quality/digest_score.rs"]
mod digest_score;

use digest_score::{Payload, Score, benchmark, families, score};

/// Room of a digest by default, in tokens of `heuristic/v3`.
const ROOM: u64 = 160;

fn report(title: &str, payloads: &[Payload]) -> Score {
    println!("{title}");
    let mut sum = Score::default();
    for payload in payloads {
        let one = score(payload, ROOM);
        println!(
            "  {:>2}/{:<2} {:>4} tokens  {}  {}",
            one.hits,
            one.needles,
            one.tokens,
            payload.name,
            one.missed.join(" · ")
        );
        if std::env::var("SHOW").is_ok_and(|name| payload.name.contains(&name)) {
            println!("-----\n{}\n-----", one.digest);
        }
        sum.add(&one);
    }
    println!("  {}/{} at {:.0} tokens on average\n", sum.hits, sum.needles, sum.tokens as f64 / payloads.len() as f64);
    sum
}

#[test]
fn digests_keep_planted_facts() {
    let shared = benchmark();
    let all = report("benchmark", &shared);
    assert!(all.hits >= 42, "{} of 55", all.hits);
    assert!(all.tokens <= 125 * shared.len() as u64);
    let tuned = report("families", &families(false));
    assert!(tuned.hits * 2 >= tuned.needles);
    if std::env::var("HELD").is_ok() {
        report("families held out", &families(true));
    }
}
