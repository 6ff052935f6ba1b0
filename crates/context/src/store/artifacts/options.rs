//! The limits of an artifact store.

use serde_json::Value;

use contextweaver_base::limits;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::Fields;
use contextweaver_text::quote::quote;
use contextweaver_text::redact::SecretRules;

/// What a full store does with a new artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Eviction {
    /// The new artifact is refused with `QUOTA_EXCEEDED`.
    #[default]
    None,
    /// Evicts the artifacts that were not used for longest, pinned ones excepted.
    Lru,
}

impl Eviction {
    /// Reads the name used in options.
    ///
    /// # Errors
    /// `INVALID_INPUT` for any other name than `none` and `lru`.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "none" => Ok(Self::None),
            "lru" => Ok(Self::Lru),
            other => Err(Error::new(ErrorCode::InvalidInput, format!("unknown eviction {}", quote(other)))
                .hint("one of: none lru")),
        }
    }
}

/// Bounds of an artifact store and what it does at them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StoreOptions {
    /// Bytes that one artifact may have.
    pub artifact_bytes: usize,
    /// Bytes of all artifacts; equal ones count each.
    pub store_bytes: usize,
    /// Artifacts that the store may have.
    pub max_artifacts: usize,
    /// Seconds an artifact lives after it was put.
    pub ttl_seconds: Option<f64>,
    /// By which rules secrets are masked before text is stored.
    pub redact_secrets: Option<SecretRules>,
    /// What a full store does.
    pub eviction: Eviction,
    /// Whether handles must be usable as file names.
    pub strict_handles: bool,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            artifact_bytes: limits::MAX_ARTIFACT_BYTES,
            store_bytes: limits::MAX_STORE_BYTES,
            max_artifacts: limits::MAX_ARTIFACTS,
            ttl_seconds: None,
            redact_secrets: None,
            eviction: Eviction::None,
            strict_handles: false,
        }
    }
}

impl StoreOptions {
    /// Reads the configuration block of the file store of 0.18: four names, positive numbers, nothing else. Bounds
    /// above those of this crate are lowered to them.
    ///
    /// # Errors
    /// `INVALID_INPUT`, `UNKNOWN_FIELD` and `OUT_OF_RANGE`, below `path`.
    pub fn from_compat(value: Value, path: &str) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        let bound = |fields: &mut Fields, key: &'static str, most: usize| -> Result<usize> {
            let given = fields.opt_uint(key, u64::MAX)?.map(|number| usize::try_from(number).unwrap_or(most));
            positive(given.map(|number| number > 0), &fields.at(key))?;
            Ok(given.map_or(most, |number| number.min(most)))
        };
        let options = Self {
            store_bytes: bound(&mut fields, "max_bytes", limits::MAX_STORE_BYTES)?,
            max_artifacts: bound(&mut fields, "max_artifacts", limits::MAX_ARTIFACTS)?,
            ttl_seconds: fields.opt_number("ttl_seconds", f64::MIN, f64::MAX)?,
            redact_secrets: fields.bool_or("redact_secrets", false)?.then_some(SecretRules::Compat),
            strict_handles: true,
            ..Self::default()
        };
        positive(options.ttl_seconds.map(|seconds| seconds > 0.0), &fields.at("ttl_seconds"))?;
        fields.finish()?;
        Ok(options)
    }
}

fn positive(is_positive: Option<bool>, path: &str) -> Result<()> {
    match is_positive {
        Some(false) => Err(Error::new(ErrorCode::OutOfRange, "expected a positive number").at(path)),
        _ => Ok(()),
    }
}

/// Refuses handles that name no file: empty, `.`, `..`, or with a slash, a backslash or NUL.
pub(super) fn check_handle(handle: &str) -> Result<()> {
    if matches!(handle, "" | "." | "..") || handle.contains(['/', '\\', '\0']) {
        return Err(
            Error::new(ErrorCode::InvalidInput, format!("handle {} is no file name", quote(handle))).at("/handle")
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_configuration_block_is_closed_and_positive() {
        let read = |value: Value| StoreOptions::from_compat(value, "/artifacts");
        let options =
            read(json!({ "max_bytes": 9, "max_artifacts": 2, "ttl_seconds": 0.5, "redact_secrets": true })).unwrap();
        assert_eq!((options.store_bytes, options.max_artifacts, options.ttl_seconds), (9, 2, Some(0.5)));
        assert_eq!(read(json!({})).unwrap().store_bytes, limits::MAX_STORE_BYTES);
        for (bad, code, path) in [
            (json!([]), ErrorCode::InvalidInput, "/artifacts"),
            (json!({ "clock": 1 }), ErrorCode::UnknownField, "/artifacts/clock"),
            (json!({ "max_bytes": 0 }), ErrorCode::OutOfRange, "/artifacts/max_bytes"),
            (json!({ "max_artifacts": -1 }), ErrorCode::OutOfRange, "/artifacts/max_artifacts"),
            (json!({ "ttl_seconds": 0 }), ErrorCode::OutOfRange, "/artifacts/ttl_seconds"),
            (json!({ "redact_secrets": 1 }), ErrorCode::InvalidInput, "/artifacts/redact_secrets"),
        ] {
            let error = read(bad).unwrap_err();
            assert_eq!((error.code(), error.path()), (code, path));
        }
        assert_eq!(Eviction::parse("fifo").unwrap_err().code(), ErrorCode::InvalidInput);
    }
}
