//! Labels of items, and what a policy makes of what is labelled too high.

use crate::callbacks::CallbackAnswers;
use crate::options::{Classifier, ManagerOptions};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::{ContextItem, ContextPolicy, Sensitivity, SensitivityAction};
use contextweaver_text::classify::{ClassifierRules, DetectedLevel, detect};
use contextweaver_text::quote::quote;
use contextweaver_text::redact::{SECRET_MASK, redact_secrets};
use contextweaver_text::tokens::Estimator;

/// What becomes of an item under the policy.
#[derive(Debug, Clone, PartialEq)]
pub enum SensitivityVerdict {
    /// It stays as it is.
    Keep,
    Drop,
    /// It stays with another text.
    Redact(Box<ContextItem>),
}

/// Returns the label of a text by the built-in patterns.
pub fn detect_level(text: &str, pii: bool) -> Sensitivity {
    match detect(text, ClassifierRules { pii }) {
        DetectedLevel::Public => Sensitivity::Public,
        DetectedLevel::Confidential => Sensitivity::Confidential,
        DetectedLevel::Restricted => Sensitivity::Restricted,
    }
}

/// Returns the label of an item after classification: never lower than what it has.
pub fn classified(item: &ContextItem, options: &ManagerOptions, answers: &CallbackAnswers) -> Sensitivity {
    let found = match &options.classifier {
        Classifier::None => return item.sensitivity,
        Classifier::Heuristic { pii } => detect_level(&item.text, *pii),
        Classifier::Custom(_) => answers.level(item).unwrap_or(item.sensitivity),
    };
    item.sensitivity.max(found)
}

/// Names the classifier for `metadata.sensitivity_raised_by`.
pub fn classifier_name(classifier: &Classifier) -> &str {
    match classifier {
        Classifier::None => "",
        Classifier::Heuristic { .. } => "HeuristicSensitivityClassifier",
        Classifier::Custom(name) => name,
    }
}

/// Checks the names of redaction hooks, which matter only where redaction happens.
pub fn check_hooks(policy: &ContextPolicy, custom: &[String]) -> Result<()> {
    if policy.sensitivity_action != SensitivityAction::Redact {
        return Ok(());
    }
    for (index, hook) in policy.effective_hooks().into_iter().enumerate() {
        if !matches!(hook, "mask" | "secret") && !custom.iter().any(|name| name == hook) {
            return Err(Error::new(ErrorCode::InvalidInput, format!("unknown redaction hook {}", quote(hook)))
                .at(format!("/policy/redaction_hooks/{index}"))
                .hint("mask, secret, or a name of redaction_hooks"));
        }
    }
    Ok(())
}

/// Judges an item whose label is already classified.
pub fn judge(
    item: &ContextItem,
    level: Sensitivity,
    options: &ManagerOptions,
    answers: &CallbackAnswers,
) -> SensitivityVerdict {
    let policy = &options.policy;
    if level < policy.sensitivity_floor {
        return SensitivityVerdict::Keep;
    }
    if policy.sensitivity_action == SensitivityAction::Drop {
        return SensitivityVerdict::Drop;
    }
    let mut redacted = ContextItem { sensitivity: level, ..item.clone() };
    for hook in policy.effective_hooks() {
        match hook {
            "mask" => mask(&mut redacted, |text| answers.tokens(&options.estimator, text)),
            "secret" => mask_item_secrets(&mut redacted),
            custom => {
                redacted.text = answers.redaction(custom, &redacted).unwrap_or_default();
                redacted.token_estimate = 0;
            }
        }
    }
    SensitivityVerdict::Redact(Box::new(redacted))
}

/// Replaces the text by a placeholder and forgets the artifact.
pub fn mask(item: &mut ContextItem, tokens: impl FnOnce(&str) -> u64) {
    item.text = format!("[REDACTED: {}]", item.sensitivity);
    item.token_estimate = tokens(&item.text);
    item.artifact_ref = None;
    item.metadata.insert("redacted".into(), true.into());
}

/// Masks secrets only; an item without any is untouched.
pub fn mask_item_secrets(item: &mut ContextItem) {
    let clean = redact_secrets(&item.text, SECRET_MASK);
    if let std::borrow::Cow::Owned(text) = clean {
        item.text = text;
        item.token_estimate = Estimator::V2.tokens(&item.text);
    }
}

/// Runs the stage over a list: labels raised, then kept, redacted or dropped. Returns the items that stay, and those
/// dropped.
///
/// # Errors
/// `INVALID_INPUT` for an unknown redaction hook.
pub fn filter(
    items: Vec<ContextItem>,
    options: &ManagerOptions,
    answers: &CallbackAnswers,
) -> Result<(Vec<ContextItem>, Vec<ContextItem>)> {
    check_hooks(&options.policy, &options.custom_hooks)?;
    let (mut kept, mut dropped) = (Vec::with_capacity(items.len()), Vec::new());
    for mut item in items {
        let level = classified(&item, options, answers);
        if level > item.sensitivity {
            item.sensitivity = level;
            item.metadata.insert("sensitivity_raised_by".into(), classifier_name(&options.classifier).into());
        }
        match judge(&item, level, options, answers) {
            SensitivityVerdict::Keep => kept.push(item),
            SensitivityVerdict::Drop => dropped.push(item),
            SensitivityVerdict::Redact(redacted) => kept.push(*redacted),
        }
    }
    Ok((kept, dropped))
}
