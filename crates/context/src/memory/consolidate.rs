//! From episodes that repeat to facts that stay.

use serde::Serialize;
use serde_json::{Map, Value, json};
use sha1::{Digest, Sha1};

use super::{negations, word_set};
use crate::store::FactStore;
use contextweaver_base::order::{WordSet, sort, sort_by, sort_distinct};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{Fields, Record, number_text};
use contextweaver_model::{Episode, Fact, JsonMap, Sensitivity};
use contextweaver_text::hash::hex;
use contextweaver_text::quote::quote;
use contextweaver_text::similarity::{FirstFit, number_words};
use contextweaver_text::time::parse_iso;

/// Version of the report's JSON form.
pub const CONSOLIDATION_VERSION: &str = "1";
/// Key of the facts that consolidation makes.
pub const CONSOLIDATED_KEY: &str = "consolidated";

const DAY_MICROS: i64 = 86_400_000_000;
/// Days after which anything counts as old: ten thousand years, beyond any date.
const MAX_DECAY_DAYS: u64 = 3_652_500;

/// When a repeated episode becomes a fact, and when a memory counts as old.
#[derive(Debug, Clone, PartialEq, Serialize, Record)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[record(default)]
pub struct ConsolidationPolicy {
    /// Episodes that must say the same.
    #[record(with = at_least_one)]
    pub min_occurrences: u64,
    /// Sessions they must come from.
    #[record(with = at_least_one)]
    pub min_sessions: u64,
    /// Similarity from which two summaries say the same, 0 to 1.
    #[record(range = 0.0..=1.0)]
    pub similarity_threshold: f64,
    /// Age in days from which a memory is reported as decayed; none never.
    #[record(with = decay)]
    pub decay_after_days: Option<u64>,
    /// Metadata key of the ISO 8601 timestamp.
    pub timestamp_key: String,
    /// Metadata key of the session.
    pub session_key: String,
}

impl Default for ConsolidationPolicy {
    fn default() -> Self {
        Self {
            min_occurrences: 3,
            min_sessions: 2,
            similarity_threshold: 0.5,
            decay_after_days: Some(90),
            timestamp_key: "timestamp".to_owned(),
            session_key: "session_id".to_owned(),
        }
    }
}

/// Takes the days after which a memory is decayed; null switches that off.
fn decay(fields: &mut Fields, key: &'static str, base: Option<u64>) -> Result<Option<u64>> {
    if fields.has(key) { fields.opt_uint(key, MAX_DECAY_DAYS) } else { Ok(base) }
}

fn at_least_one(fields: &mut Fields, key: &'static str, default: u64) -> Result<u64> {
    match fields.uint_or(key, default, u64::from(u32::MAX))? {
        0 => Err(Error::new(ErrorCode::OutOfRange, "expected a whole number from 1").at(fields.at(key))),
        count => Ok(count),
    }
}

/// Episodes that say the same.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct EpisodeCluster {
    /// `cluster_000` and on, in order of the first member.
    pub cluster_id: String,
    /// The members, sorted.
    pub episode_ids: Vec<String>,
    /// The summary that says most.
    pub canonical_text: String,
}

/// A fact that a cluster supports.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct PromotedFact {
    /// Derived from the members, so that a second run over the same episodes changes nothing.
    pub fact_id: String,
    /// [`CONSOLIDATED_KEY`].
    pub key: String,
    /// The summary that says most, as the value of the fact.
    pub text: String,
    /// The members it rests on.
    pub source_episode_ids: Vec<String>,
    /// Number of members.
    pub occurrences: u64,
    /// How many sessions they come from.
    pub sessions: u64,
    /// Earliest timestamp, as written.
    pub first_seen: Option<String>,
    /// Latest timestamp, as written.
    pub last_seen: Option<String>,
    /// Highest label of the members.
    pub sensitivity: Sensitivity,
    /// Whether a model worded the text.
    pub merged_by_llm: bool,
}

/// What a run over the episodes found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ConsolidationReport {
    /// [`CONSOLIDATION_VERSION`].
    pub version: &'static str,
    /// Every cluster, those of one episode among them.
    pub clusters: Vec<EpisodeCluster>,
    /// What the clusters support, sorted by id.
    pub promoted: Vec<PromotedFact>,
    /// Old episodes, reported and kept.
    pub decayed_episode_ids: Vec<String>,
    /// Old facts, reported and kept.
    pub decayed_fact_ids: Vec<String>,
    /// Whether the facts were stored.
    pub applied: bool,
}

/// What a run needs besides policy and memories.
#[derive(Default)]
pub struct ConsolidationOptions<'a> {
    /// The moment from which age counts, ISO 8601; none reports no decay.
    pub as_of: Option<&'a str>,
}

/// Groups episodes, finds the facts they support and the memories that are old. Changes nothing; see
/// [`crate::ContextManager::consolidate`] for an example.
///
/// # Errors
/// `INVALID_INPUT` at `/as_of` for what is no ISO 8601 timestamp.
pub fn consolidate(
    episodes: &[Episode],
    facts: &FactStore,
    policy: &ConsolidationPolicy,
    options: &ConsolidationOptions<'_>,
) -> Result<ConsolidationReport> {
    let horizon = horizon(options.as_of, policy)?;
    let groups = group(episodes, policy.similarity_threshold);
    let mut promoted: Vec<PromotedFact> = groups.iter().filter_map(|members| promote(members, policy)).collect();
    sort_by(&mut promoted, |a, b| a.fact_id.cmp(&b.fact_id));
    let is_old = |metadata: &JsonMap| {
        let time = timestamp(metadata, &policy.timestamp_key).and_then(parse_iso);
        time.zip(horizon).is_some_and(|(time, horizon)| time < horizon)
    };
    let old_episodes =
        episodes.iter().filter(|episode| is_old(&episode.metadata)).map(|episode| episode.episode_id.clone());
    let old_facts = facts.all().filter(|fact| is_old(&fact.metadata)).map(|fact| fact.fact_id.clone());
    let mut decayed_episode_ids: Vec<String> = old_episodes.collect();
    sort(&mut decayed_episode_ids);
    Ok(ConsolidationReport {
        version: CONSOLIDATION_VERSION,
        clusters: groups.iter().enumerate().map(|(index, members)| cluster(index, members)).collect(),
        promoted,
        decayed_episode_ids,
        decayed_fact_ids: old_facts.collect(),
        applied: false,
    })
}

impl ConsolidationReport {
    /// Stores the promoted facts, all or none; facts of the same id are replaced.
    ///
    /// # Errors
    /// `QUOTA_EXCEEDED` when they do not fit; `facts` is unchanged then.
    pub fn apply(&mut self, facts: &mut FactStore, policy: &ConsolidationPolicy) -> Result<()> {
        let mut next = facts.clone();
        for promoted in &self.promoted {
            next.put(promoted.to_fact(&policy.timestamp_key))?;
        }
        *facts = next;
        self.applied = true;
        Ok(())
    }

    /// Returns the run in a line.
    pub fn summary(&self) -> String {
        format!(
            "Consolidation (v{}): clusters={} promoted={} decayed_episodes={} decayed_facts={} applied={}",
            self.version,
            self.clusters.len(),
            self.promoted.len(),
            self.decayed_episode_ids.len(),
            self.decayed_fact_ids.len(),
            if self.applied { "True" } else { "False" }
        )
    }
}

impl PromotedFact {
    fn to_fact(&self, timestamp_key: &str) -> Fact {
        let mut metadata = Map::new();
        metadata.insert("consolidated".into(), true.into());
        metadata.insert("source_episode_ids".into(), json!(self.source_episode_ids));
        metadata.insert("occurrences".into(), self.occurrences.into());
        metadata.insert("sessions".into(), self.sessions.into());
        metadata.insert("first_seen".into(), json!(self.first_seen));
        metadata.insert("last_seen".into(), json!(self.last_seen));
        metadata.insert("merged_by_llm".into(), self.merged_by_llm.into());
        if let Some(last) = &self.last_seen {
            metadata.insert(timestamp_key.to_owned(), last.clone().into());
        }
        Fact {
            fact_id: self.fact_id.clone(),
            key: self.key.clone(),
            value: self.text.clone(),
            tags: Vec::new(),
            metadata,
            sensitivity: self.sensitivity,
        }
    }
}

/// Returns the moment before which memories are old.
fn horizon(as_of: Option<&str>, policy: &ConsolidationPolicy) -> Result<Option<i64>> {
    let Some(text) = as_of else { return Ok(None) };
    let now = parse_iso(text).ok_or_else(|| {
        let message = format!("expected an ISO 8601 timestamp, got {}", quote(text));
        Error::new(ErrorCode::InvalidInput, message).at("/as_of")
    })?;
    let age = |days: u64| DAY_MICROS.saturating_mul(i64::try_from(days).unwrap_or(i64::MAX));
    Ok(policy.decay_after_days.map(|days| now.saturating_sub(age(days))))
}

/// Puts each episode, by id, into the first group whose first member is similar.
fn group(episodes: &[Episode], threshold: f64) -> Vec<Vec<&Episode>> {
    let mut ordered: Vec<&Episode> = episodes.iter().collect();
    sort_by(&mut ordered, |a, b| a.episode_id.cmp(&b.episode_id));
    let sets: Vec<WordSet> = ordered.iter().map(|episode| word_set(&episode.summary)).collect();
    let mut index = FirstFit::new(threshold);
    let mut polarity: Vec<WordSet> = Vec::new();
    let mut groups: Vec<Vec<&Episode>> = Vec::new();
    for (episode, set) in ordered.into_iter().zip(number_words(&sets)) {
        // "is safe" and "is not safe" have the same words; a fact must not rest on both.
        let own = negations(&episode.summary);
        if let Some(home) = index.find(&set, &|seed| polarity[seed] == own) {
            groups[home].push(episode);
        } else {
            index.push(set);
            polarity.push(own);
            groups.push(vec![episode]);
        }
    }
    groups
}

fn cluster(index: usize, members: &[&Episode]) -> EpisodeCluster {
    EpisodeCluster {
        cluster_id: format!("cluster_{index:03}"),
        episode_ids: members.iter().map(|episode| episode.episode_id.clone()).collect(),
        canonical_text: canonical_text(members).to_owned(),
    }
}

/// Returns the summary with most words; members are sorted by id and the first of equals stays.
fn canonical_text<'a>(members: &[&'a Episode]) -> &'a str {
    let best = members.iter().rev().max_by_key(|episode| word_set(&episode.summary).len());
    best.map_or("", |episode| episode.summary.as_str())
}

fn promote(members: &[&Episode], policy: &ConsolidationPolicy) -> Option<PromotedFact> {
    let occurrences = members.len() as u64;
    let mut sessions: Vec<Option<String>> =
        members.iter().map(|episode| session(episode, &policy.session_key)).collect();
    sort_distinct(&mut sessions);
    let sessions = sessions.len() as u64;
    if occurrences < policy.min_occurrences || sessions < policy.min_sessions {
        return None;
    }
    let (first_seen, last_seen) = seen(members, &policy.timestamp_key);
    let ids: Vec<String> = members.iter().map(|episode| episode.episode_id.clone()).collect();
    Some(PromotedFact {
        fact_id: fact_id(&ids),
        key: CONSOLIDATED_KEY.to_owned(),
        merged_by_llm: false,
        text: canonical_text(members).to_owned(),
        source_episode_ids: ids,
        occurrences,
        sessions,
        first_seen,
        last_seen,
        sensitivity: members.iter().map(|episode| episode.sensitivity).max().unwrap_or(Sensitivity::Public),
    })
}

/// Derives an id from sorted member ids, as 0.18 does, so that facts of either are recognised by both.
fn fact_id(ids: &[String]) -> String {
    let digest = Sha1::digest(ids.join("\n").as_bytes());
    format!("fact:{CONSOLIDATED_KEY}:{}", hex(&digest[..6]))
}

/// Names the session of an episode; those without one share a session.
fn session(episode: &Episode, key: &str) -> Option<String> {
    match episode.metadata.get(key) {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Number(number)) => Some(number_text(number)),
        Some(Value::Bool(flag)) => Some(if *flag { "True".into() } else { "False".into() }),
        Some(other) => Some(other.to_string()),
    }
}

fn timestamp<'a>(metadata: &'a JsonMap, key: &str) -> Option<&'a str> {
    metadata.get(key).and_then(Value::as_str)
}

/// Returns the earliest and the latest timestamp as written; of equal moments the first member's.
fn seen(members: &[&Episode], key: &str) -> (Option<String>, Option<String>) {
    let mut moments: Vec<(i64, &str)> = members
        .iter()
        .filter_map(|episode| timestamp(&episode.metadata, key))
        .filter_map(|text| Some((parse_iso(text)?, text)))
        .collect();
    sort_by(&mut moments, |a, b| a.0.cmp(&b.0));
    let first = moments.first().map(|(_, text)| (*text).to_owned());
    let latest = moments.last().map(|(time, _)| *time);
    let last = moments.iter().find(|(time, _)| Some(*time) == latest).map(|(_, text)| (*text).to_owned());
    (first, last)
}

#[cfg(test)]
#[path = "consolidate_tests.rs"]
mod tests;
