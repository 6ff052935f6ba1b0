//! Masks credentials in what models and callers get: texts, records, envelopes and artifact references.

use std::borrow::Cow;

use serde_json::Value;

use crate::options::ManagerOptions;
use contextweaver_model::{ArtifactRef, JsonMap, ResultEnvelope};
use contextweaver_text::data::name_data;
use contextweaver_text::redact::{
    SECRET_MASK, redact_keeping, redact_names_keeping, redact_secrets, redact_value_keeping,
};

/// The provenance key with the id of a result's item.
const SOURCE: &str = "source_item_id";

impl ManagerOptions {
    /// Masks the secrets in a text if `redact_secrets` is on, except those that `keep` exempts.
    ///
    /// ```
    /// let options = contextweaver_context::ManagerOptions::default();
    /// assert_eq!(options.mask_secrets("password: hunter2222"), "password: [REDACTED-SECRET]");
    /// ```
    pub fn mask_secrets<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.redact_secrets { redact_keeping(text, SECRET_MASK, &self.keep) } else { Cow::Borrowed(text) }
    }

    /// Returns the text of a tool as a model may read it. Secrets are masked, long runs of base64 or hexadecimal digits are
    /// replaced by a name such as `[base64, 5 KiB]`, and a byte order mark is gone: behind it JSON is none.
    pub(crate) fn readable<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        match name_data(text) {
            Cow::Borrowed(text) => self.mask_secrets(text),
            Cow::Owned(text) => Cow::Owned(self.mask_secrets(&text).into_owned()),
        }
    }

    /// Masks the secrets in the values of a record as `mask_secrets` does. Keys do not change.
    pub(crate) fn mask_value(&self, value: &Value) -> Value {
        if self.redact_secrets { redact_value_keeping(value, SECRET_MASK, &self.keep) } else { value.clone() }
    }

    /// Masks the secrets in the values of a record as `mask_value` does, and those in its keys.
    pub(crate) fn mask_names(&self, value: &Value) -> Value {
        if self.redact_secrets { redact_names_keeping(value, SECRET_MASK, &self.keep) } else { value.clone() }
    }

    /// Masks the secrets in a text for a record of what was done, if `redact_secrets` is on. Nothing is exempt, because
    /// nobody has to repeat a value from a record.
    pub(crate) fn mask_record<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.redact_secrets { redact_secrets(text, SECRET_MASK) } else { Cow::Borrowed(text) }
    }
}

/// Masks the credentials in an envelope. Ids and handles stay, so that they can be looked up.
pub fn mask_envelope(envelope: &mut ResultEnvelope, options: &ManagerOptions) {
    if !options.redact_secrets {
        return;
    }
    let mask = |text: &mut String| {
        if let Cow::Owned(masked) = options.mask_secrets(text) {
            *text = masked;
        }
    };
    mask(&mut envelope.summary);
    envelope.facts.iter_mut().for_each(mask);
    envelope.artifacts.iter_mut().for_each(|artifact| mask_artifact(artifact, |text| options.mask_secrets(text)));
    for view in &mut envelope.views {
        mask(&mut view.label);
        view.artifact_ref.iter_mut().for_each(|artifact| mask_artifact(artifact, |text| options.mask_secrets(text)));
    }
    let source = envelope.provenance.get(SOURCE).cloned();
    mask_map(&mut envelope.provenance, options);
    if let Some(source) = source {
        envelope.provenance.insert(SOURCE.to_owned(), source);
    }
    let provider = envelope.firewall_stats.as_mut().and_then(|stats| stats.llm_provider.as_mut());
    if let Some(provider) = provider {
        mask_map(provider, options);
    }
}

fn mask_map(map: &mut JsonMap, options: &ManagerOptions) {
    let value = Value::Object(std::mem::take(map));
    if let Value::Object(masked) = options.mask_names(&value) {
        *map = masked;
    }
}

/// Masks the credentials in the label and the media type of an artifact.
pub fn mask_artifact(artifact: &mut ArtifactRef, mask: impl Fn(&str) -> Cow<'_, str>) {
    for text in [&mut artifact.label, &mut artifact.media_type] {
        if let Cow::Owned(masked) = mask(text) {
            *text = masked;
        }
    }
}
