//! What a manager can be told.

use serde_json::Value;

use crate::running::PriceModel;
use crate::store::StoreOptions;
use contextweaver_base::limits;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{Field, Fields, Record, closed_or, pointer, wrong_type};
use contextweaver_model::{ContextBudget, ContextPolicy, JsonMap, ProfileConfig, ScoringConfig};
use contextweaver_text::quote::quote;
use contextweaver_text::redact::Keep;
use contextweaver_text::tokens::Estimator;

contextweaver_model::string_enum! {
    /// What becomes of steps of the active turn that do not fit.
    ActiveTurn, "active_turn" {
        /// They stay, or the build fails.
        Keep = "keep",
        /// They may be dropped like others.
        Trim = "trim",
    }
}

/// Who labels items beyond what the caller said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Classifier {
    /// Items keep the label that the caller gave them.
    None,
    /// The built-in patterns: secrets are restricted, personal data is confidential.
    Heuristic {
        /// Whether an e-mail address alone counts as personal data.
        pii: bool,
    },
    /// The caller's function under this name.
    Custom(String),
}

/// Who works on large results: a built-in, or a function of the caller that is asked by [`crate::Need`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plugin {
    /// Name of the built-in, or the name under which the caller knows the function.
    pub name: String,
    /// Whether the name is that of a built-in, which needs no answers.
    pub built_in: bool,
    /// Whether a model does the work.
    pub is_llm: bool,
    /// What a model-backed function says of itself.
    pub provider: JsonMap,
}

/// Who summarises large results; none leaves them to digests.
pub type Summarizer = Plugin;

/// Who finds facts in results.
pub type Extractor = Plugin;

/// Name of the built-in summarizer beside the default one, as in 0.18.
pub const RULE_BASED: &str = "rule_based";
/// Name of the built-in extractor beside the default one, as in 0.18.
pub const STRUCTURED: &str = "structured";

impl Plugin {
    /// Reads the name of a built-in, or `{"custom": name, "is_llm"?: bool, "provider_metadata"?: object}`.
    ///
    /// # Errors
    /// `INVALID_INPUT`, `MISSING_FIELD` and `UNKNOWN_FIELD`, below `path`.
    pub fn from_value(value: Value, path: &str, built_in: &str) -> Result<Self> {
        if let Value::String(name) = value {
            return if name == built_in {
                Ok(Self { name, built_in: true, is_llm: false, provider: JsonMap::new() })
            } else {
                Err(Error::new(ErrorCode::InvalidInput, format!("unknown built-in {}", quote(&name)))
                    .at(path)
                    .hint(format!("{built_in}, or a function")))
            };
        }
        let mut fields = Fields::open(value, path)?;
        let plugin = Self {
            name: fields.string("custom")?,
            built_in: false,
            is_llm: fields.bool_or("is_llm", false)?,
            provider: provider(&mut fields, "provider_metadata")?,
        };
        fields.finish()?;
        Ok(plugin)
    }
}

/// Takes what a model says of itself, in strings.
pub(crate) fn provider(fields: &mut Fields, key: &'static str) -> Result<JsonMap> {
    let provider = fields.object(key)?;
    match provider.iter().find(|(_, value)| !value.is_string()) {
        Some((name, value)) => Err(wrong_type(&pointer(&fields.at(key), name), "a string", value)),
        None => Ok(provider),
    }
}

/// Who finds what the user states once and for all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum RuleFinder {
    /// The built-in one.
    #[default]
    BuiltIn,
    /// The caller's function under this name, and the built-in one where that says nothing.
    Custom(String),
}

/// What becomes of large results.
#[derive(Debug, Clone, PartialEq, Eq, Record)]
#[record(default, closed)]
pub struct FirewallOptions {
    /// Tokens above which a result ingested as raw output is summarised in the prompt.
    #[record(max = limits::MAX_BUDGET_TOKENS)]
    pub threshold_tokens: u64,
    /// Most tokens of a summary.
    #[record(max = limits::MAX_BUDGET_TOKENS)]
    pub summary_tokens: u64,
    /// Whether functions backed by a model are refused.
    pub deterministic: bool,
}

impl Default for FirewallOptions {
    fn default() -> Self {
        Self {
            threshold_tokens: limits::FIREWALL_THRESHOLD_TOKENS,
            summary_tokens: limits::SUMMARY_TOKENS,
            deterministic: false,
        }
    }
}

/// Upper bounds that the caller may lower.
#[derive(Debug, Clone, Copy, PartialEq, Record)]
#[record(default, closed)]
pub struct ManagerLimits {
    /// Items that the log may have.
    #[record(name = "max_items", max = limits::MAX_ITEMS as u64)]
    pub items: usize,
    /// Bounds of the artifact store.
    #[record(flatten)]
    pub store: StoreOptions,
}

impl Default for ManagerLimits {
    fn default() -> Self {
        Self { items: limits::MAX_ITEMS, store: StoreOptions::default() }
    }
}

/// The settings of a manager, checked.
///
/// ```
/// use contextweaver_context::ManagerOptions;
/// use contextweaver_model::Phase;
/// use serde_json::json;
///
/// let options = ManagerOptions::from_value(json!({
///     "budget": { "answer": 4000 },
///     "firewall": { "threshold_tokens": 500 },
///     "classifier": "heuristic",
/// }))?;
/// assert_eq!(options.budget.of(Phase::Answer), 4000);
/// assert_eq!(options.firewall.threshold_tokens, 500);
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Record)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent switches, each an option by itself")]
#[record(default, partial)]
pub struct ManagerOptions {
    /// Tokens that the prompt of each phase may have.
    #[record(with = closed_or)]
    pub budget: ContextBudget,
    /// Which kinds of items a phase admits, and what becomes of sensitive ones.
    #[record(with = policy)]
    pub policy: ContextPolicy,
    /// How relevance is weighed against the query.
    #[record(with = scoring)]
    pub scoring: ScoringConfig,
    /// What becomes of large results.
    #[record(with = closed_or)]
    pub firewall: FirewallOptions,
    /// Whether a prompt that something left names identifiers of it that may be asked for, and where they stand; where that
    /// is not said, it does from [`limits::LEDGER_BUDGET`] on, and at each cut of a running prompt.
    pub ledger: Option<bool>,
    /// Whether what the user states once and for all stays in every prompt.
    #[record(skip)]
    pub standing_rules: bool,
    /// Who finds it.
    #[record(skip)]
    pub rule_finder: RuleFinder,
    /// What repeating a prompt costs; where that is not said, what goes with the format of its messages.
    pub prices: Option<PriceModel>,
    /// Where a running prompt stands between keeping what it can (0) and saving what it can (1).
    #[record(range = 0.0..=1.0)]
    pub thrift: f64,
    /// Whether what calls of a model cost scales the budgets of prompts for it.
    pub calibrate: bool,
    /// Whether steps of the active turn may be dropped like others; otherwise they stay, or the build fails.
    #[record(name = "active_turn", with = active_turn)]
    pub trim_active_turn: bool,
    /// Whether secrets are masked on every rendered surface.
    #[record(skip)]
    pub redact_secrets: bool,
    /// What of them stays, as the next call of the model has to repeat it, or as the caller says.
    #[record(skip)]
    pub keep: Keep,
    /// How tokens are counted; every budget is in its tokens.
    #[record(with = estimator)]
    pub estimator: Estimator,
    /// Who labels items beyond what the caller said of them.
    #[record(with = classifier)]
    pub classifier: Classifier,
    /// Who summarises large results; none leaves them to digests.
    #[record(with = summarizer)]
    pub summarizer: Option<Summarizer>,
    /// Who finds facts in results.
    #[record(with = extractor)]
    pub extractor: Option<Extractor>,
    /// Names of the caller's redaction hooks.
    #[record(name = "redaction_hooks")]
    pub custom_hooks: Vec<String>,
    /// Whether builds return events for hooks of the caller.
    pub listens: bool,
    /// Upper bounds of the log and the artifact store.
    #[record(with = closed_or)]
    pub limits: ManagerLimits,
}

impl Default for ManagerOptions {
    fn default() -> Self {
        Self {
            budget: ContextBudget::default(),
            policy: ContextPolicy::default(),
            scoring: ScoringConfig::default(),
            firewall: FirewallOptions::default(),
            ledger: None,
            standing_rules: true,
            rule_finder: RuleFinder::BuiltIn,
            prices: None,
            thrift: limits::THRIFT,
            calibrate: true,
            trim_active_turn: true,
            redact_secrets: true,
            keep: Keep::for_model(&[], "").unwrap_or_default(),
            estimator: Estimator::V3,
            classifier: Classifier::None,
            summarizer: None,
            extractor: None,
            custom_hooks: Vec::new(),
            listens: true,
            limits: ManagerLimits::default(),
        }
    }
}

impl ManagerOptions {
    /// Reads closed options over the defaults: an unknown field is an error.
    ///
    /// # Errors
    /// `UNKNOWN_FIELD`, `INVALID_INPUT` and `OUT_OF_RANGE`, at the path of the field;
    /// `DUPLICATE_ID` at `/redaction_hooks/<index>` for the name of a built-in hook.
    pub fn from_value(value: Value) -> Result<Self> {
        let mut fields = Fields::open(value, "")?;
        let mut base = Self::default();
        base.read_profile(&mut fields)?;
        let mut options = base.over(&mut fields)?;
        options.read_rules(&mut fields)?;
        options.read_masking(&mut fields)?;
        fields.finish()?;
        options.check()?;
        Ok(options)
    }

    /// A profile fills what the options leave out. A preset name sets budgets; a whole profile sets what it names.
    fn read_profile(&mut self, fields: &mut Fields) -> Result<()> {
        match fields.take("profile") {
            None => {}
            Some(Value::String(name)) => {
                let preset = ProfileConfig::preset(&name).map_err(|e| e.at("/profile"))?;
                self.budget = preset.budget;
            }
            Some(value) => {
                let names_policy = value.get("policy").is_some_and(|policy| !policy.is_null());
                let profile = ProfileConfig::from_value(value, "/profile")?;
                self.budget = profile.budget;
                if names_policy {
                    self.policy = profile.policy;
                }
            }
        }
        Ok(())
    }

    /// Tells whether prompts of such a budget, in tokens, have a ledger.
    pub(crate) fn has_ledger(&self, budget: u64, is_cut: bool) -> bool {
        self.ledger.unwrap_or(is_cut || budget >= limits::LEDGER_BUDGET)
    }

    /// Reads whether what the user states is kept, or `{find}`: kept, and who finds it.
    fn read_rules(&mut self, fields: &mut Fields) -> Result<()> {
        let path = fields.at("rules");
        match fields.take("rules") {
            None => {}
            Some(Value::Bool(is_on)) => self.standing_rules = is_on,
            Some(value @ Value::Object(_)) => {
                let mut given = Fields::open(value, &path)?;
                self.standing_rules = true;
                if let Some(find) = given.take("find") {
                    self.rule_finder = RuleFinder::Custom(custom_name(find, &given.at("find"))?);
                }
                given.finish()?;
            }
            Some(other) => return Err(wrong_type(&path, "a boolean, or an object with `find`", &other)),
        }
        Ok(())
    }

    /// Reads whether secrets are masked, or `{except}`: in which fields they stay.
    fn read_masking(&mut self, fields: &mut Fields) -> Result<()> {
        let path = fields.at("redact_secrets");
        match fields.take("redact_secrets") {
            None => {}
            Some(Value::Bool(is_on)) => {
                self.redact_secrets = is_on;
                self.keep = Self::default().keep;
            }
            Some(value @ Value::Object(_)) => {
                let mut own = Fields::open(value, &path)?;
                let except = own.strings("except")?;
                own.finish()?;
                self.keep = Keep::for_model(&except, &format!("{path}/except"))?;
                self.redact_secrets = true;
            }
            Some(other) => return Err(wrong_type(&path, "true, false or an object with `except`", &other)),
        }
        Ok(())
    }

    fn check(&self) -> Result<()> {
        if let Some(index) = self.custom_hooks.iter().position(|hook| matches!(hook.as_str(), "mask" | "secret")) {
            return Err(Error::new(ErrorCode::DuplicateId, "a built-in redaction hook has this name")
                .at(format!("/redaction_hooks/{index}")));
        }
        Ok(())
    }
}

fn policy(fields: &mut Fields, key: &'static str, base: ContextPolicy) -> Result<ContextPolicy> {
    let Some(mut own) = fields.nested(key)? else { return Ok(base) };
    let policy = base.over(&mut own)?;
    own.finish()?;
    Ok(policy)
}

fn scoring(fields: &mut Fields, key: &'static str, base: ScoringConfig) -> Result<ScoringConfig> {
    fields.take(key).map_or(Ok(base), |value| ScoringConfig::from_value(value, &fields.at(key)))
}

fn active_turn(fields: &mut Fields, key: &'static str, base: bool) -> Result<bool> {
    Ok(ActiveTurn::optional(fields, key)?.map_or(base, |turn| turn == ActiveTurn::Trim))
}

fn estimator(fields: &mut Fields, key: &'static str, base: Estimator) -> Result<Estimator> {
    match fields.take(key) {
        None => Ok(base),
        Some(Value::String(name)) => Estimator::named(&name).map_err(|error| error.at(fields.at(key))),
        Some(value) => custom_name(value, &fields.at(key)).map(Estimator::Custom),
    }
}

fn classifier(fields: &mut Fields, key: &'static str, base: Classifier) -> Result<Classifier> {
    match fields.take(key) {
        None => Ok(base),
        Some(Value::String(name)) => match name.as_str() {
            "heuristic" => Ok(Classifier::Heuristic { pii: true }),
            "heuristic-no-pii" => Ok(Classifier::Heuristic { pii: false }),
            _ => Err(Error::new(ErrorCode::InvalidInput, format!("unknown classifier {}", quote(&name)))
                .at(fields.at(key))
                .hint("one of: heuristic heuristic-no-pii, or a function")),
        },
        Some(value) => custom_name(value, &fields.at(key)).map(Classifier::Custom),
    }
}

fn summarizer(fields: &mut Fields, key: &'static str, base: Option<Plugin>) -> Result<Option<Plugin>> {
    plugin(fields, key, RULE_BASED).map(|given| given.or(base))
}

fn extractor(fields: &mut Fields, key: &'static str, base: Option<Plugin>) -> Result<Option<Plugin>> {
    plugin(fields, key, STRUCTURED).map(|given| given.or(base))
}

fn plugin(fields: &mut Fields, key: &'static str, built_in: &str) -> Result<Option<Plugin>> {
    fields.take(key).map(|value| Plugin::from_value(value, &fields.at(key), built_in)).transpose()
}

/// Reads `{"custom": name}`, which stands for a function on the other side of the boundary.
fn custom_name(value: Value, path: &str) -> Result<String> {
    let mut fields = Fields::open(value, path)?;
    let name = fields.string("custom")?;
    fields.finish()?;
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn plugins_and_firewall_options_are_closed() {
        let table = [
            (json!({ "firewall": { "size": 1 } }), "UNKNOWN_FIELD", "/firewall/size"),
            (json!({ "firewall": { "deterministic": 1 } }), "INVALID_INPUT", "/firewall/deterministic"),
            (json!({ "firewall": { "summary_tokens": -1 } }), "OUT_OF_RANGE", "/firewall/summary_tokens"),
            (json!({ "summarizer": "structured" }), "INVALID_INPUT", "/summarizer"),
            (json!({ "extractor": { "custom": "f", "llm": true } }), "UNKNOWN_FIELD", "/extractor/llm"),
            (
                json!({ "summarizer": { "custom": "f", "provider_metadata": { "a": 1 } } }),
                "INVALID_INPUT",
                "/summarizer/provider_metadata/a",
            ),
        ];
        for (options, code, path) in table {
            let error = ManagerOptions::from_value(options.clone()).unwrap_err();
            assert_eq!((error.code().as_str(), error.path()), (code, path), "{options}");
        }
        let given = json!({
            "firewall": { "threshold_tokens": 7, "summary_tokens": 8, "deterministic": true },
            "summarizer": "rule_based",
            "extractor": { "custom": "f", "is_llm": true },
        });
        let options = ManagerOptions::from_value(given).unwrap();
        assert_eq!(options.firewall, FirewallOptions { threshold_tokens: 7, summary_tokens: 8, deterministic: true });
        assert!(options.summarizer.is_some_and(|plugin| plugin.built_in));
        assert!(options.extractor.is_some_and(|plugin| plugin.is_llm && !plugin.built_in));
    }
}
