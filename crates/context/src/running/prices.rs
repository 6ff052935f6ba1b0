//! What providers take for tokens that repeat the prompt before, as data: a price model says what a step costs.

use serde::Serialize;
use serde_json::Value;

use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_convert::providers::Format;
use contextweaver_model::json::{Field, Fields, Record, wrong_type};
use contextweaver_text::quote::quote;

/// Highest price of a token, in tokens that are read without a cache.
const MAX_PRICE: f64 = 16.0;
/// Longest prefix or step of a cache, in tokens.
const MAX_TOKENS: u64 = 1 << 20;
/// A week.
const MAX_SECONDS: f64 = 604_800.0;

/// What a provider takes for a token of a prompt, in prices of a token that is neither read from a cache nor written to one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Record)]
#[record(default, partial)]
pub struct PriceModel {
    /// Price of a token that repeats the prompt before; 1 where there is no cache.
    #[record(range = 0.0..=1.0)]
    pub cached: f64,
    /// Price of a token that is written to the cache.
    #[record(range = 0.0..=MAX_PRICE)]
    pub written: f64,
    /// Tokens of a prefix below which nothing is cached.
    #[record(max = MAX_TOKENS)]
    pub least_tokens: u64,
    /// What the length of a cached prefix is a multiple of, in tokens.
    #[record(with = step_tokens)]
    pub step_tokens: u64,
    /// Seconds without a call after which the cache is taken for lost.
    #[record(range = 0.0..=MAX_SECONDS)]
    pub kept_seconds: f64,
}

/// The price model of a provider.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProviderPrices {
    /// By which it is asked for.
    pub name: &'static str,
    /// The figures.
    pub prices: PriceModel,
    /// Where the figures are from.
    pub source: &'static str,
    /// When they were read there, as YYYY-MM.
    pub as_of: &'static str,
}

const OPENAI: PriceModel =
    PriceModel { cached: 0.1, written: 1.0, least_tokens: 1024, step_tokens: 128, kept_seconds: 600.0 };
const ANTHROPIC: PriceModel =
    PriceModel { cached: 0.1, written: 1.25, least_tokens: 1024, step_tokens: 1, kept_seconds: 300.0 };
const GEMINI: PriceModel =
    PriceModel { cached: 0.1, written: 1.0, least_tokens: 2048, step_tokens: 1, kept_seconds: 300.0 };

/// The providers whose prices are known. Shares of the input price are those of their current general models.
pub const PROVIDERS: [ProviderPrices; 5] = [
    ProviderPrices {
        name: "openai",
        prices: OPENAI,
        source: "platform.openai.com/docs/guides/prompt-caching and /docs/pricing: GPT-5 and later",
        as_of: "2026-11",
    },
    ProviderPrices {
        name: "anthropic",
        prices: ANTHROPIC,
        source: "docs.anthropic.com/en/docs/build-with-claude/prompt-caching: ephemeral, five minutes",
        as_of: "2026-11",
    },
    ProviderPrices {
        name: "gemini",
        prices: GEMINI,
        source: "ai.google.dev/gemini-api/docs/caching and /pricing: implicit caching of 2.5 and later",
        as_of: "2026-11",
    },
    ProviderPrices {
        name: "deepseek",
        prices: PriceModel { cached: 0.1, written: 1.0, least_tokens: 64, step_tokens: 64, kept_seconds: 3600.0 },
        source: "api-docs.deepseek.com/guides/kv_cache and /quick_start/pricing",
        as_of: "2026-11",
    },
    ProviderPrices {
        name: "none",
        prices: PriceModel { cached: 1.0, written: 1.0, least_tokens: 0, step_tokens: 1, kept_seconds: 0.0 },
        source: "a provider without a cache",
        as_of: "2026-11",
    },
];

impl Default for PriceModel {
    fn default() -> Self {
        OPENAI
    }
}

impl Field for PriceModel {
    fn read(value: Value, path: &str) -> Result<Self> {
        Self::from_value(value, path)
    }
}

fn step_tokens(fields: &mut Fields, key: &'static str, base: u64) -> Result<u64> {
    Ok(fields.uint_or(key, base, MAX_TOKENS)?.max(1))
}

impl PriceModel {
    /// Returns the prices of a provider.
    pub fn named(name: &str) -> Option<Self> {
        PROVIDERS.iter().find(|provider| provider.name == name).map(|provider| provider.prices)
    }

    /// Returns the prices that go with a format where none are asked for; those of `openai` where it tells nothing.
    pub fn of_format(format: Option<Format>) -> Self {
        match format {
            Some(Format::Anthropic) => ANTHROPIC,
            Some(Format::Gemini) => GEMINI,
            _ => OPENAI,
        }
    }

    /// Reads a name, or the fields of a model of the caller's; what it leaves out is as for `openai`.
    ///
    /// # Errors
    /// `INVALID_INPUT` for a name that is not known, `OUT_OF_RANGE` and `UNKNOWN_FIELD` at the path of a field.
    pub fn from_value(value: Value, path: &str) -> Result<Self> {
        match value {
            Value::String(name) => Self::named(&name).ok_or_else(|| {
                let names: Vec<&str> = PROVIDERS.iter().map(|provider| provider.name).collect();
                Error::new(ErrorCode::InvalidInput, format!("unknown prices {}", quote(&name)))
                    .at(path)
                    .hint(format!("one of: {}; or {{ cached, written }} of your provider", names.join(" ")))
            }),
            Value::Object(_) => Self::closed(value, path),
            other => Err(wrong_type(path, "the name of a provider, or its prices", &other)),
        }
    }

    /// Tells whether repeating a prompt is any cheaper than sending another one.
    pub fn has_cache(&self) -> bool {
        self.cached < 1.0
    }

    /// Returns how many of the tokens that repeat the prompt before are read from the cache.
    pub fn hit(&self, repeated: u64) -> u64 {
        if !self.has_cache() || repeated < self.least_tokens {
            0
        } else {
            repeated / self.step_tokens * self.step_tokens
        }
    }

    /// Prices a prompt of which so many tokens are read from the cache.
    pub fn cost(&self, tokens: u64, hit: u64) -> f64 {
        let new = tokens.saturating_sub(hit) as f64;
        new * self.written + hit.min(tokens) as f64 * self.cached
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_prefix_is_read_in_steps_from_a_least_length_on() {
        let openai = PriceModel::named("openai").unwrap();
        assert_eq!([1023, 1024, 1300].map(|tokens| openai.hit(tokens)), [0, 1024, 1280]);
        assert!((openai.cost(2000, openai.hit(1300)) - (720.0 + 128.0)).abs() < 1e-9);
        let none = PriceModel::named("none").unwrap();
        assert!((none.cost(2000, none.hit(1300)) - 2000.0).abs() < 1e-9);
    }

    #[test]
    fn prices_are_checked() {
        let table = [
            (json!("openia"), "INVALID_INPUT", "/prices"),
            (json!({ "cached": -0.1 }), "OUT_OF_RANGE", "/prices/cached"),
            (json!({ "cached": 1.5 }), "OUT_OF_RANGE", "/prices/cached"),
            (json!({ "written": "much" }), "INVALID_INPUT", "/prices/written"),
            (json!({ "cache": 0.1 }), "UNKNOWN_FIELD", "/prices/cache"),
            (json!(7), "INVALID_INPUT", "/prices"),
        ];
        for (given, code, path) in table {
            let error = PriceModel::from_value(given.clone(), "/prices").unwrap_err();
            assert_eq!((error.code().as_str(), error.path()), (code, path), "{given}");
        }
        let own = PriceModel::from_value(json!({ "cached": 0.25, "kept_seconds": 60 }), "/prices").unwrap();
        assert_eq!((own.cached, own.written, own.kept_seconds), (0.25, 1.0, 60.0));
    }
}
