//! The traits of a record and of its fields: how each is read from JSON.

use std::borrow::Cow;

use serde_json::Value;

use super::{Fields, JsonMap, as_number, as_string, as_uint, wrong_type};
use contextweaver_base::{Error, ErrorCode, Result};

pub use contextweaver_record_derive::Record;

/// A struct that is read field by field.
///
/// ```
/// use contextweaver_model::json::Record;
/// use serde_json::json;
///
/// #[derive(Record)]
/// #[record(closed)]
/// struct Search {
///     query: String,
///     #[record(default = 10, max = 100)]
///     top_k: u64,
///     #[record(range = 0.0..=1.0)]
///     least: Option<f64>,
///     tags: Vec<String>,
/// }
///
/// let search = Search::from_value(json!({ "query": "refund", "least": 0.5 }), "/search")?;
/// assert_eq!((search.query.as_str(), search.top_k, search.least), ("refund", 10, Some(0.5)));
/// assert!(search.tags.is_empty());
///
/// let refused = |value| Search::from_value(value, "/search").err().unwrap();
/// assert_eq!(refused(json!({})).path(), "/search/query");
/// assert_eq!(refused(json!({ "query": "", "top_k": 101 })).code().as_str(), "OUT_OF_RANGE");
/// assert_eq!(refused(json!({ "query": "", "topK": 1 })).hint_text(), Some("did you mean `top_k`?"));
/// assert_eq!(Search::FIELDS[..2], [("query", true), ("top_k", false)]);
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub trait Record: Sized {
    /// The fields that are known, each with whether it is required.
    const FIELDS: &'static [(&'static str, bool)];

    /// Takes the fields of the record, which may stand in a larger one.
    ///
    /// # Errors
    /// `MISSING_FIELD`, `INVALID_INPUT`, `OUT_OF_RANGE` and the like, with the path of the field.
    fn from_fields(fields: &mut Fields) -> Result<Self>;

    /// Reads the record alone, and refuses fields that are not known.
    ///
    /// # Errors
    /// `UNKNOWN_FIELD`; those of [`Record::from_fields`].
    fn closed(value: Value, path: &str) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        let record = Self::from_fields(&mut fields)?;
        fields.finish()?;
        Ok(record)
    }
}

/// Takes a closed record; absent is the base.
///
/// # Errors
/// Those of [`Record::closed`].
pub fn closed_or<T: Record>(fields: &mut Fields, key: &'static str, base: T) -> Result<T> {
    fields.take(key).map_or(Ok(base), |value| T::closed(value, &fields.at(key)))
}

/// A type that a field may have.
pub trait Field: Sized {
    /// Whether a field of this type must be there.
    const REQUIRED: bool = true;

    /// Reads what stands at a path.
    ///
    /// # Errors
    /// `INVALID_INPUT` and the like, at the path or below it.
    fn read(value: Value, path: &str) -> Result<Self>;

    /// Takes a field if it is there.
    ///
    /// # Errors
    /// Those of [`Field::read`].
    fn optional(fields: &mut Fields, key: &'static str) -> Result<Option<Self>> {
        fields.take(key).map(|value| Self::read(value, &fields.at(key))).transpose()
    }

    /// Takes a field, which may be absent where nothing is [`Field::REQUIRED`].
    ///
    /// # Errors
    /// `MISSING_FIELD`; those of [`Field::read`].
    fn take(fields: &mut Fields, key: &'static str) -> Result<Self> {
        let value = fields.require(key)?;
        Self::read(value, &fields.at(key))
    }

    /// Takes a list of them; absent is empty.
    ///
    /// # Errors
    /// `INVALID_INPUT` for another type; those of [`Field::read`].
    fn list(fields: &mut Fields, key: &'static str) -> Result<Vec<Self>> {
        fields.records(key, Self::read)
    }
}

impl Field for String {
    fn read(value: Value, path: &str) -> Result<Self> {
        as_string(value, path)
    }

    fn optional(fields: &mut Fields, key: &'static str) -> Result<Option<Self>> {
        fields.opt_string(key)
    }

    fn take(fields: &mut Fields, key: &'static str) -> Result<Self> {
        fields.string(key)
    }

    fn list(fields: &mut Fields, key: &'static str) -> Result<Vec<Self>> {
        fields.strings(key)
    }
}

impl Field for Cow<'static, str> {
    fn read(value: Value, path: &str) -> Result<Self> {
        as_string(value, path).map(Self::Owned)
    }
}

impl Field for bool {
    fn read(value: Value, path: &str) -> Result<Self> {
        value.as_bool().ok_or_else(|| wrong_type(path, "true or false", &value))
    }
}

impl Field for u64 {
    fn read(value: Value, path: &str) -> Result<Self> {
        as_uint(&value, path, Self::MAX)
    }
}

impl Field for i64 {
    fn read(value: Value, path: &str) -> Result<Self> {
        value.as_i64().ok_or_else(|| Error::new(ErrorCode::InvalidInput, "expected a whole number").at(path))
    }
}

impl Field for f64 {
    fn read(value: Value, path: &str) -> Result<Self> {
        as_number(&value, path, Self::MIN, Self::MAX)
    }
}

impl Field for Value {
    fn read(value: Value, _: &str) -> Result<Self> {
        Ok(value)
    }
}

impl Field for JsonMap {
    const REQUIRED: bool = false;

    fn read(value: Value, path: &str) -> Result<Self> {
        match value {
            Value::Object(map) => Ok(map),
            other => Err(wrong_type(path, "an object", &other)),
        }
    }

    fn take(fields: &mut Fields, key: &'static str) -> Result<Self> {
        fields.object(key)
    }
}

impl<T: Field> Field for Vec<T> {
    const REQUIRED: bool = false;

    fn read(value: Value, path: &str) -> Result<Self> {
        let Value::Array(list) = value else { return Err(wrong_type(path, "an array", &value)) };
        list.into_iter().enumerate().map(|(index, value)| T::read(value, &format!("{path}/{index}"))).collect()
    }

    fn take(fields: &mut Fields, key: &'static str) -> Result<Self> {
        T::list(fields, key)
    }
}

impl<T: Field> Field for Option<T> {
    const REQUIRED: bool = false;

    fn read(value: Value, path: &str) -> Result<Self> {
        T::read(value, path).map(Some)
    }

    fn take(fields: &mut Fields, key: &'static str) -> Result<Self> {
        T::optional(fields, key)
    }
}

/// Reads the word of a closed set.
///
/// # Errors
/// Those of `parse` and of [`as_string`], at the path.
pub fn as_word<T>(value: Value, path: &str, parse: fn(&str) -> Result<T>) -> Result<T> {
    parse(&as_string(value, path)?).map_err(|error: Error| error.at(path))
}

#[cfg(test)]
mod tests {
    use serde::Serialize;
    use serde::de::DeserializeOwned;
    use serde_json::json;

    use crate::{
        ContextBudget, ContextItem, ContextPolicy, ItemKind, Phase, ProfileConfig, RoutingConfig, SelectableItem,
        Sensitivity,
    };

    fn comes_back<T: Serialize + DeserializeOwned>(record: &T) {
        let text = serde_json::to_string(record).unwrap();
        let read: T = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
    }

    #[test]
    fn records_come_back_as_they_were() {
        comes_back(&ContextBudget::default().with_phase(Phase::Call, 7));
        comes_back(&ContextPolicy::default());
        comes_back(&ProfileConfig::default());
        comes_back(&RoutingConfig::default());
        comes_back(&SelectableItem { id: "t".into(), kind: "tool".into(), name: "t".into(), ..Default::default() });
        let mut item = ContextItem::new("u1", ItemKind::ToolResult, "text");
        item.sensitivity = Sensitivity::Internal;
        item.parent_id = Some("c1".into());
        item.metadata.insert("tags".into(), json!(["a"]));
        comes_back(&item);
        comes_back(&ItemKind::PlanState);
    }

    #[test]
    fn errors_name_the_field() {
        let error =
            serde_json::from_value::<ContextItem>(json!({ "id": "x", "kind": "song", "text": "" })).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("unknown kind `song`") && text.contains("/kind"), "{text}");
        assert!(serde_json::from_value::<Sensitivity>(json!("secret")).is_err());
    }
}
