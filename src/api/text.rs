//! Functions on text.

use serde_json::json;

use super::{done, unknown};
use contextweaver_base::{Result, limits};
use contextweaver_context::report::BuildReport;
use contextweaver_context::{PROVIDERS, ProviderPrices};
use contextweaver_model::BuildStats;
use contextweaver_model::json::{self, Fields};
use contextweaver_text::redact::{Keep, SECRET_MASK, redact_keeping};
use contextweaver_text::tokens::Estimator;
use contextweaver_text::{tokenize, unicode};

/// Runs a function on text.
pub fn text_call(operation: &str, arguments: &str) -> Result<String> {
    let mut fields = Fields::open(json::parse(arguments)?, "")?;
    let result = match operation {
        "count_tokens" => {
            let estimator = fields.parsed_or("estimator", Estimator::V3, Estimator::named)?;
            json!({ "tokens": estimator.tokens(&fields.string("text")?) })
        }
        "redact_secrets" => {
            let mask = fields.string_or("mask", SECRET_MASK)?;
            let keep = match fields.opt_strings("except")? {
                Some(except) => Keep::for_model(&except, &fields.at("except"))?,
                None => Keep::default(),
            };
            json!({ "text": redact_keeping(&fields.string("text")?, &mask, &keep) })
        }
        "sanitize_text" => json!({ "text": unicode::sanitize(&fields.string("text")?) }),
        "drilldown_tool" => json!(contextweaver_content::drilldown_tool()),
        "recall_tool" => json!(contextweaver_content::recall_tool()),
        "tokenize" => json!({ "tokens": tokenize::tokenize(&fields.string("text")?) }),
        "price_models" => PROVIDERS
            .iter()
            .map(|ProviderPrices { name, prices, source, as_of }| {
                json!({ "name": name, "prices": prices, "source": source, "as_of": as_of })
            })
            .collect(),
        "report" => {
            let stats: BuildStats = fields.get("stats")?;
            let phase = fields.opt_string("phase")?;
            let budget = fields.opt_uint("budget", limits::MAX_BUDGET_TOKENS)?.map(u64::cast_signed);
            let report = BuildReport::of(&stats, phase.as_deref(), budget);
            json!({ "text": report.text, "markup": report.markup, "data": report.data })
        }
        other => return Err(unknown(other)),
    };
    fields.finish()?;
    done(&result)
}
