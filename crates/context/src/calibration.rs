//! What providers said that calls cost, and what follows for the next estimate.
//!
//! An estimator does not know the vocabulary of a model, so it errs by the same share wherever the texts are alike: what was
//! paid for the last calls of a model, over what was estimated for them, corrects the next estimate.

use std::collections::VecDeque;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use contextweaver_base::limits::{
    CALIBRATED_CALLS, CALIBRATED_MODELS, MAX_CALIBRATION_PERCENT, MAX_TOKEN_ESTIMATE, MIN_CALIBRATION_PERCENT,
};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::TokenCalibration;
use contextweaver_model::json::{Fields, Record, as_uint, pointer, wrong_type};

/// What a call of a model cost.
///
/// ```
/// use contextweaver_context::{BuildRequest, ContextManager, ManagerOptions, ObservedUsage};
/// use contextweaver_model::{ContextItem, ItemKind, Phase};
///
/// let mut manager = ContextManager::new(ManagerOptions::default());
/// manager.ingest(ContextItem::new("u1", ItemKind::UserTurn, "Where is order 12446?"))?;
/// let known = manager.observe_usage(&ObservedUsage { model: "m-1".into(), estimated: 1000, actual: 1250 })?;
/// assert_eq!((known.factor, known.observations), (1.25, 1));
///
/// let model = Some("m-1".to_owned());
/// let request = BuildRequest { model, budget_tokens: Some(1000), ..BuildRequest::new(Phase::Answer, "order") };
/// let stats = manager.build(&request)?.done().unwrap().pack.stats;
/// assert_eq!(stats.budget_tokens, Some(800));
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Record)]
#[record(closed, root, check)]
pub struct ObservedUsage {
    /// Name of the model.
    pub model: String,
    /// Tokens that were estimated for what was sent.
    #[record(max = MAX_TOKEN_ESTIMATE)]
    pub estimated: u64,
    /// Tokens that the provider counted for the same.
    #[record(max = MAX_TOKEN_ESTIMATE)]
    pub actual: u64,
}

impl ObservedUsage {
    /// Refuses what says nothing of a model.
    pub(crate) fn check(&self) -> Result<()> {
        let empty = if self.model.is_empty() {
            "/model"
        } else if self.estimated == 0 {
            "/estimated"
        } else if self.actual == 0 {
            "/actual"
        } else {
            return Ok(());
        };
        let hint =
            "what was estimated for a call, its `tokens` or `stats.prompt_tokens`, and what the provider counted";
        Err(Error::new(ErrorCode::OutOfRange, "expected a model and more than 0 tokens").at(empty).hint(hint))
    }
}

/// The last calls of each model: what was estimated, and what was counted.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Calibrations {
    /// The model that was called last stands last.
    models: Vec<(String, VecDeque<(u64, u64)>)>,
}

impl Calibrations {
    /// Notes a call.
    pub fn observe(&mut self, observed: &ObservedUsage) {
        let place = self.models.iter().position(|(model, _)| *model == observed.model);
        let (model, mut calls) =
            place.map_or_else(|| (observed.model.clone(), VecDeque::new()), |place| self.models.remove(place));
        if calls.len() == CALIBRATED_CALLS {
            calls.pop_front();
        }
        calls.push_back((observed.estimated, observed.actual));
        if self.models.len() == CALIBRATED_MODELS {
            self.models.remove(0);
        }
        self.models.push((model, calls));
    }

    /// Returns what is known of a model; none when none of its calls was.
    pub fn of(&self, model: &str) -> Option<TokenCalibration> {
        let (_, calls) = self.models.iter().find(|(known, _)| known == model)?;
        Some(TokenCalibration {
            model: model.to_owned(),
            factor: percent(calls) as f64 / 100.0,
            observations: calls.len() as u64,
        })
    }

    /// Returns the tokens of the estimator that stand for so many of the model's.
    pub fn estimated(&self, model: &str, tokens: u64) -> u64 {
        self.percent(model).map_or(tokens, |percent| tokens * 100 / percent)
    }

    /// Returns the tokens of the model that so many of the estimator's stand for, rounded up.
    pub fn expected(&self, model: &str, estimated: u64) -> u64 {
        self.percent(model).map_or(estimated, |percent| (estimated * percent).div_ceil(100))
    }

    fn percent(&self, model: &str) -> Option<u64> {
        self.models.iter().find(|(known, _)| known == model).map(|(_, calls)| percent(calls))
    }

    /// Reads the snapshot form.
    pub fn from_fields(fields: &mut Fields) -> Result<Self> {
        let at = fields.at("calibration");
        let mut read = Self::default();
        for (model, calls) in fields.object("calibration")? {
            let at = pointer(&at, &model);
            let Value::Array(calls) = calls else { return Err(wrong_type(&at, "a list", &calls)) };
            for (index, call) in calls.into_iter().enumerate() {
                let at = format!("{at}/{index}");
                let Value::Array(pair) = &call else { return Err(wrong_type(&at, "two counts of tokens", &call)) };
                let [estimated, actual] = pair.as_slice() else {
                    return Err(Error::new(ErrorCode::InvalidInput, "expected two counts of tokens").at(at));
                };
                let count = |value: &Value, index: u8| as_uint(value, &format!("{at}/{index}"), MAX_TOKEN_ESTIMATE);
                let (estimated, actual) = (count(estimated, 0)?, count(actual, 1)?);
                let observed = ObservedUsage { model: model.clone(), estimated, actual };
                observed.check().map_err(|error| error.under(at))?;
                read.observe(&observed);
            }
        }
        Ok(read)
    }
}

/// What was counted in hundredths of what was estimated, rounded up and bounded: a prompt that is too small costs words, one
/// that is too large the call. Large calls count for more than small ones.
fn percent(calls: &VecDeque<(u64, u64)>) -> u64 {
    let (estimated, actual) = calls.iter().fold((0, 0), |sum, call| (sum.0 + call.0, sum.1 + call.1));
    (100 * actual).div_ceil(estimated).clamp(MIN_CALIBRATION_PERCENT, MAX_CALIBRATION_PERCENT)
}

impl Serialize for Calibrations {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.models.len()))?;
        for (model, calls) in &self.models {
            map.serialize_entry(model, calls)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::{Calibrations, ObservedUsage};
    use contextweaver_base::limits::{CALIBRATED_CALLS, CALIBRATED_MODELS};

    fn known(calls: &[(u64, u64)]) -> Calibrations {
        let mut known = Calibrations::default();
        for &(estimated, actual) in calls {
            known.observe(&ObservedUsage { model: "m".to_owned(), estimated, actual });
        }
        known
    }

    #[test]
    fn the_factor_is_what_was_paid_over_what_was_estimated() {
        let cases: &[(&[(u64, u64)], f64)] = &[
            (&[(1000, 1000)], 1.0),
            (&[(1000, 1201)], 1.21),
            (&[(1000, 800)], 0.8),
            (&[(100, 200), (900, 900)], 1.1),
            (&[(10, 900)], 2.5),
            (&[(900, 10)], 0.4),
        ];
        for (calls, factor) in cases {
            assert_eq!(known(calls).of("m").map(|known| known.factor), Some(*factor), "{calls:?}");
        }
        assert_eq!(known(&[]).of("m"), None);
    }

    #[test]
    fn what_is_expected_of_a_budget_is_no_more_than_the_budget() {
        for actual in 1..=300 {
            let known = known(&[(100, actual)]);
            for budget in [0, 1, 7, 99, 100, 101, 6000, 1 << 24] {
                assert!(known.expected("m", known.estimated("m", budget)) <= budget, "{actual} {budget}");
            }
        }
    }

    #[test]
    fn only_the_last_calls_and_models_are_kept() {
        let mut calls = vec![(100, 200); 50];
        calls.extend(vec![(100, 100); CALIBRATED_CALLS]);
        assert_eq!(
            known(&calls).of("m").map(|known| (known.factor, known.observations)),
            Some((1.0, CALIBRATED_CALLS as u64))
        );
        let mut many = Calibrations::default();
        for at in 0..=CALIBRATED_MODELS {
            many.observe(&ObservedUsage { model: format!("m{at}"), estimated: 1, actual: 1 });
        }
        assert_eq!((many.models.len(), many.of("m0"), many.of("m1").is_some()), (CALIBRATED_MODELS, None, true));
    }
}
