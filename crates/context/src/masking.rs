//! Credentials in what models and callers get: texts, records, envelopes and references to stored bytes.

use std::borrow::Cow;

use serde_json::Value;

use crate::options::ManagerOptions;
use contextweaver_model::{ArtifactRef, JsonMap, ResultEnvelope};
use contextweaver_text::data::name_data;
use contextweaver_text::redact::{
    SECRET_MASK, redact_keeping, redact_names_keeping, redact_secrets, redact_value_keeping,
};

/// Provenance of a result of the log: the id of its item.
const SOURCE: &str = "source_item_id";

impl ManagerOptions {
    /// Masks the secrets in a text, where that is asked for.
    ///
    /// ```
    /// let options = contextweaver_context::ManagerOptions::default();
    /// assert_eq!(options.mask_secrets("password: hunter2222"), "password: [REDACTED-SECRET]");
    /// ```
    pub fn mask_secrets<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.redact_secrets { redact_keeping(text, SECRET_MASK, &self.keep) } else { Cow::Borrowed(text) }
    }

    /// Returns a text of a tool as it may be read: secrets masked, and long runs of base64 and the like under a name.
    pub(crate) fn readable<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match name_data(text) {
            Cow::Borrowed(text) => self.mask_secrets(text),
            Cow::Owned(text) => Cow::Owned(self.mask_secrets(&text).into_owned()),
        }
    }

    /// Masks the secrets in the values of a record, where that is asked for.
    pub(crate) fn mask_value(&self, value: &Value) -> Value {
        if self.redact_secrets { redact_value_keeping(value, SECRET_MASK, &self.keep) } else { value.clone() }
    }

    /// Does the same in its names.
    pub(crate) fn mask_names(&self, value: &Value) -> Value {
        if self.redact_secrets { redact_names_keeping(value, SECRET_MASK, &self.keep) } else { value.clone() }
    }

    /// Masks the secrets in a text for a record of what was done, where nobody has to repeat any of them.
    pub(crate) fn mask_record<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.redact_secrets { redact_secrets(text, SECRET_MASK) } else { Cow::Borrowed(text) }
    }
}

/// Masks the credentials in what an envelope says. Ids and handles in it stay, or nothing could be found by them.
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

/// Masks the credentials in what is said of stored bytes.
pub fn mask_artifact(artifact: &mut ArtifactRef, mask: impl Fn(&str) -> Cow<'_, str>) {
    for text in [&mut artifact.label, &mut artifact.media_type] {
        if let Cow::Owned(masked) = mask(text) {
            *text = masked;
        }
    }
}
