//! Circuit breakers: what failed too often is closed for a while, then tried once.

use serde_json::{Map, Value, json};

use super::verdict::GuardrailFinding;
use crate::record::Decision;
use crate::timestamps;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::numbers::round;
use contextweaver_model::json::{Fields, JsonMap};

/// Breakers of one store, and reviews that one of them remembers.
const MAX_BREAKERS: usize = 100;
const MAX_OUTCOMES: usize = 1000;
/// Longest window and cooldown: ten years.
const MAX_MS: u64 = 10 * 366 * 86_400_000;
/// Prefixes of scopes besides `global`.
const SCOPES: &[&str] = &["category:", "stakes:", "agent:", "tag:"];

/// Whether actions pass.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum BreakerState {
    /// Actions pass.
    #[default]
    Closed,
    /// Actions are blocked until the cooldown ends.
    Open,
    /// One action passes as a probe; its review opens or closes the breaker.
    HalfOpen,
}

impl BreakerState {
    const ALL: &'static [Self] = &[Self::Closed, Self::Open, Self::HalfOpen];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::HalfOpen => "half_open",
        }
    }
}

/// A breaker of one scope. Times are milliseconds since 1970.
#[derive(Debug, Clone, Default)]
struct CircuitBreaker {
    scope: String,
    threshold: usize,
    window: i64,
    cooldown: i64,
    state: BreakerState,
    /// When something was reviewed, and whether it had failed.
    outcomes: Vec<(i64, bool)>,
    opened_at: i64,
    probed_at: Option<i64>,
}

/// The breakers of a store, at most one for each scope.
#[derive(Debug, Default)]
pub struct CircuitBreakers(Vec<CircuitBreaker>);

/// Returns the scopes an action is in.
pub(super) fn scopes_of(
    category: Option<&str>,
    stakes: Option<&str>,
    agent: Option<&str>,
    tags: &[String],
) -> Vec<String> {
    let named = [("category", category), ("stakes", stakes), ("agent", agent)];
    let mut out = vec!["global".to_owned()];
    out.extend(named.iter().filter_map(|(kind, name)| Some(format!("{kind}:{}", (*name)?))));
    out.extend(tags.iter().map(|tag| format!("tag:{tag}")));
    out
}

fn too_many(path: &str) -> Error {
    Error::new(ErrorCode::TooLarge, format!("a store has at most {MAX_BREAKERS} breakers")).at(path)
}

impl CircuitBreakers {
    /// Adds a breaker: `{scope, failure_threshold?, window_ms?, cooldown_ms?}`, and what a snapshot says of its state.
    ///
    /// # Errors
    ///
    /// `INVALID_INPUT` for a scope that there is not, `DUPLICATE_ID` for one that has a breaker, `TOO_LARGE` beyond the
    /// limit.
    pub fn add(&mut self, value: Value, path: &str) -> Result<()> {
        let mut fields = Fields::open(value, path)?;
        let breaker = CircuitBreaker {
            scope: fields.string("scope")?,
            threshold: fields.uint_or("failure_threshold", 5, MAX_OUTCOMES as u64)?.max(1) as usize,
            window: fields.uint_or("window_ms", 3_600_000, MAX_MS)?.cast_signed(),
            cooldown: fields.uint_or("cooldown_ms", 1_800_000, MAX_MS)?.cast_signed(),
            state: state_named(&fields.string_or("state", "closed")?, path)?,
            outcomes: outcomes(fields.list("outcomes")?, path)?,
            opened_at: fields.take("opened_at").and_then(|at| at.as_i64()).unwrap_or(0),
            probed_at: fields.take("probed_at").and_then(|at| at.as_i64()),
        };
        fields.finish()?;
        let scope = breaker.scope.as_str();
        let is_known =
            scope == "global" || SCOPES.iter().any(|kind| scope.len() > kind.len() && scope.starts_with(kind));
        if !is_known {
            let message = "a breaker is `global`, or for a category:, stakes:, agent: or tag:";
            return Err(Error::new(ErrorCode::InvalidInput, message).at(format!("{path}/scope")));
        }
        if self.0.iter().any(|known| known.scope == scope) {
            return Err(
                Error::new(ErrorCode::DuplicateId, "there is a breaker for this already").at(format!("{path}/scope"))
            );
        }
        if self.0.len() == MAX_BREAKERS {
            return Err(too_many(path));
        }
        self.0.push(breaker);
        Ok(())
    }

    /// Takes breakers in. Of one whose scope has a breaker here, what happened to it is taken where this store `resumes`
    /// another one: threshold and times stay those of here.
    ///
    /// # Errors
    ///
    /// `TOO_LARGE` beyond the limit.
    pub fn join(&mut self, others: Self, resumes: bool, path: &str) -> Result<()> {
        for was in others.0 {
            let is_full = self.0.len() == MAX_BREAKERS;
            match self.0.iter_mut().find(|own| own.scope == was.scope) {
                Some(own) if resumes => {
                    let (threshold, window, cooldown) = (own.threshold, own.window, own.cooldown);
                    *own = CircuitBreaker { threshold, window, cooldown, ..was };
                }
                Some(_) => {}
                None if is_full => return Err(too_many(path)),
                None => self.0.push(was),
            }
        }
        Ok(())
    }

    /// Returns the breakers for a snapshot, in the form that [`Self::add`] reads.
    pub fn snapshot(&self) -> Vec<Value> {
        let one = |breaker: &CircuitBreaker| {
            let mut out = json!({
                "scope": breaker.scope,
                "failure_threshold": breaker.threshold,
                "window_ms": breaker.window,
                "cooldown_ms": breaker.cooldown,
                "state": breaker.state.as_str(),
                "outcomes": breaker.outcomes.iter().map(|(at, failed)| json!([at, failed])).collect::<Vec<_>>(),
                "opened_at": breaker.opened_at,
            });
            if let Some(at) = breaker.probed_at {
                out["probed_at"] = at.into();
            }
            out
        };
        self.0.iter().map(one).collect()
    }

    /// Tells whether there is no breaker.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns what open breakers say of an action.
    pub(super) fn findings(&mut self, scopes: &[String], now: i64) -> Vec<GuardrailFinding> {
        let hit = self.0.iter_mut().filter(|breaker| scopes.contains(&breaker.scope));
        hit.filter_map(|breaker| breaker.finding(now)).collect()
    }

    /// Notes that an action goes ahead that may tell whether breakers can close.
    pub(super) fn take_probes(&mut self, scopes: &[String], now: i64) {
        for breaker in self.0.iter_mut().filter(|breaker| scopes.contains(&breaker.scope)) {
            if breaker.state == BreakerState::HalfOpen {
                breaker.probed_at = Some(now);
            }
        }
    }

    /// Counts the outcome of a review at the breakers of the decision's scopes.
    pub fn note_review(&mut self, decision: &Decision, outcome: &str, now: i64) {
        let agent = decision.recorded_by.as_deref();
        let scopes = scopes_of(Some(&decision.category), decision.stakes.as_deref(), agent, &decision.tags);
        for breaker in self.0.iter_mut().filter(|breaker| scopes.contains(&breaker.scope)) {
            breaker.note(outcome, now);
        }
    }

    /// Describes the breakers that saw failures or do not let everything pass.
    pub fn active(&mut self, now: i64) -> Vec<Value> {
        self.0.iter_mut().filter_map(|breaker| breaker.describe(now)).collect()
    }
}

impl CircuitBreaker {
    fn advance(&mut self, now: i64) {
        if self.state == BreakerState::Open && now >= self.opened_at.saturating_add(self.cooldown) {
            self.state = BreakerState::HalfOpen;
            self.probed_at = None;
        }
        let since = now.saturating_sub(self.window);
        self.outcomes.retain(|(at, _)| *at > since);
    }

    fn failures(&self) -> usize {
        self.outcomes.iter().filter(|(_, failed)| *failed).count()
    }

    fn finding(&mut self, now: i64) -> Option<GuardrailFinding> {
        self.advance(now);
        // A probe that nobody reviews does not hold the breaker for ever.
        let is_probing = self.probed_at.is_some_and(|at| now < at.saturating_add(self.cooldown));
        if self.state == BreakerState::Closed || self.state == BreakerState::HalfOpen && !is_probing {
            return None;
        }
        let resets = self.resets_at();
        let rate = self.failures() as f64 / self.outcomes.len().max(1) as f64;
        let mut more = Map::new();
        more.insert("type".to_owned(), "circuit_breaker".into());
        more.insert("state".to_owned(), self.state.as_str().into());
        more.insert("failureRate".to_owned(), round(rate, 3).into());
        more.insert("resetAt".to_owned(), timestamps::iso(resets).into());
        let hint = "Review what failed before going on, or wait until the breaker lets one action pass";
        more.insert("suggestion".to_owned(), hint.into());
        Some(GuardrailFinding {
            id: format!("circuit_breaker:{}", self.scope),
            name: format!("Circuit breaker {}", self.scope),
            message: format!("Too many failures in {}; closed until {}", self.scope, timestamps::iso(resets)),
            severity: "block",
            more,
        })
    }

    fn resets_at(&self) -> i64 {
        self.probed_at.unwrap_or(self.opened_at).saturating_add(self.cooldown)
    }

    fn note(&mut self, outcome: &str, now: i64) {
        self.advance(now);
        let failed = outcome == "failure";
        if self.outcomes.len() == MAX_OUTCOMES {
            self.outcomes.remove(0);
        }
        self.outcomes.push((now, failed));
        match (self.state, outcome) {
            (BreakerState::HalfOpen, "success") => {
                self.state = BreakerState::Closed;
                self.outcomes.clear();
            }
            (BreakerState::HalfOpen, "failure") => self.open(now),
            (BreakerState::Closed, "failure") if self.failures() >= self.threshold => self.open(now),
            _ => {}
        }
        if self.state != BreakerState::Open {
            self.probed_at = None;
        }
    }

    const fn open(&mut self, now: i64) {
        self.state = BreakerState::Open;
        self.opened_at = now;
        self.probed_at = None;
    }

    fn describe(&mut self, now: i64) -> Option<Value> {
        self.advance(now);
        let failures = self.failures();
        if self.state == BreakerState::Closed && failures == 0 {
            return None;
        }
        let mut out = JsonMap::new();
        out.insert("scope".to_owned(), self.scope.as_str().into());
        out.insert("state".to_owned(), self.state.as_str().into());
        out.insert("failures".to_owned(), failures.into());
        out.insert("threshold".to_owned(), self.threshold.into());
        if self.state == BreakerState::Open {
            out.insert("resetAt".to_owned(), timestamps::iso(self.resets_at()).into());
            out.insert("resetsInMs".to_owned(), (self.resets_at() - now).max(0).into());
        }
        Some(Value::Object(out))
    }
}

fn state_named(name: &str, path: &str) -> Result<BreakerState> {
    let found = BreakerState::ALL.iter().find(|state| state.as_str() == name).copied();
    found.ok_or_else(|| {
        Error::new(ErrorCode::InvalidInput, "a breaker is closed, open or half_open").at(format!("{path}/state"))
    })
}

fn outcomes(list: Vec<Value>, path: &str) -> Result<Vec<(i64, bool)>> {
    let wrong = || {
        Error::new(ErrorCode::InvalidInput, "an outcome is a time in milliseconds and whether it failed")
            .at(format!("{path}/outcomes"))
    };
    let read = |entry: Value| Some((entry.get(0)?.as_i64()?, entry.get(1)?.as_bool()?));
    let skipped = list.len().saturating_sub(MAX_OUTCOMES);
    list.into_iter().skip(skipped).map(|entry| read(entry).ok_or_else(wrong)).collect()
}
