//! Which tools a client gets to see, by their namespaces and by what their inventory says.

use serde_json::{Value, json};

use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{Field, Fields, JsonMap};
use contextweaver_model::{RESERVED_KEY, SelectableItem};
use contextweaver_routing::catalog::INVENTORY_FIELDS;
use contextweaver_text::python::quoted;
use contextweaver_text::quote::quote;

use crate::glob::Glob;

/// What of a catalog is shown. What a profile hides is neither listed nor found nor called.
///
/// Namespaces and domains are globs; the other values are those of the inventory of a tool, which the operator keeps in
/// its metadata below `_contextweaver.inventory`; servers cannot write there. What is excluded has to be known; of what
/// is only allowed, the unknown is not.
///
/// ```
/// use contextweaver_gateway::VisibilityProfile;
/// use contextweaver_model::SelectableItem;
/// use serde_json::json;
///
/// let profile = VisibilityProfile::from_value(json!({ "name": "sales", "exclude_namespaces": ["bill*"] }), "/visibility")?;
/// let item = SelectableItem { namespace: "billing".to_owned(), ..SelectableItem::default() };
/// assert_eq!(profile.ruling(&item), (false, "namespace 'billing' matches exclude_namespaces".to_owned()));
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct VisibilityProfile {
    name: String,
    lists: Vec<VisibilityList>,
}

/// One list of a profile.
#[derive(Debug, Clone, PartialEq)]
struct VisibilityList {
    kind: &'static ListKind,
    values: Vec<Glob>,
}

/// What a list of a profile speaks of.
#[derive(Debug, PartialEq)]
struct ListKind {
    /// The name of the list.
    key: &'static str,
    /// What it is called in reasons.
    label: &'static str,
    /// The field of the inventory; none for the namespace of the tool.
    field: Option<&'static str>,
    /// Whether it says what is hidden, or what alone is shown.
    excludes: bool,
    /// Whether its values are globs, or those of the inventory.
    globs: bool,
}

/// The lists in the order in which they decide.
const LISTS: &[ListKind] = &[
    list("exclude_namespaces", "namespace", None, true, true),
    list("include_namespaces", "namespace", None, false, true),
    list("exclude_domains", "domain", Some("business_domain"), true, true),
    list("include_domains", "domain", Some("business_domain"), false, true),
    list("exclude_risk_levels", "risk_level", Some("risk_level"), true, false),
    list("exclude_lifecycles", "lifecycle", Some("lifecycle"), true, false),
    list("allow_side_effects", "side_effects", Some("side_effects"), false, false),
    list("environments", "environment", Some("environment"), false, false),
];

const fn list(
    key: &'static str,
    label: &'static str,
    field: Option<&'static str>,
    excludes: bool,
    globs: bool,
) -> ListKind {
    ListKind { key, label, field, excludes, globs }
}

impl Field for VisibilityProfile {
    fn read(value: Value, path: &str) -> Result<Self> {
        Self::from_value(value, path)
    }
}

impl VisibilityProfile {
    /// Reads `{name, exclude_namespaces?, include_namespaces?, exclude_domains?, include_domains?, exclude_risk_levels?,
    /// exclude_lifecycles?, allow_side_effects?, environments?}`. A list of what alone is shown shows nothing if it is
    /// empty.
    ///
    /// # Errors
    /// `UNKNOWN_FIELD`; `MISSING_FIELD` and `INVALID_INPUT` for an absent or blank name, and for a value that no inventory
    /// has.
    pub fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        let name = fields.string("name")?;
        if name.trim().is_empty() {
            return Err(Error::new(ErrorCode::InvalidInput, "the name of a profile is blank").at(fields.at("name")));
        }
        let mut lists = Vec::new();
        for kind in LISTS {
            let at = fields.at(kind.key);
            if fields.peek(kind.key).is_none_or(Value::is_null) {
                fields.take(kind.key);
                continue;
            }
            let texts = fields.strings(kind.key)?;
            if !kind.globs {
                texts.iter().enumerate().try_for_each(|(index, text)| known(kind, text, &format!("{at}/{index}")))?;
            }
            lists.push(VisibilityList { kind, values: Glob::read_all(&texts, &at)? });
        }
        fields.finish()?;
        Ok(Self { name, lists })
    }

    /// Returns the profile as [`Self::from_value`] reads it.
    pub fn to_json(&self) -> Value {
        let mut map = JsonMap::new();
        map.insert("name".to_owned(), self.name.as_str().into());
        for list in &self.lists {
            map.insert(list.kind.key.to_owned(), json!(list.values.iter().map(Glob::as_str).collect::<Vec<_>>()));
        }
        Value::Object(map)
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Tells whether a tool is shown, and why not.
    pub fn ruling(&self, item: &SelectableItem) -> (bool, String) {
        let inventory = item.metadata.get(RESERVED_KEY).and_then(|reserved| reserved.get("inventory"));
        for VisibilityList { kind, values } in &self.lists {
            let value = match kind.field {
                None => Some(item.namespace.as_str()),
                Some(field) => inventory.and_then(|inventory| inventory.get(field)?.as_str()),
            };
            let is_listed = value.is_some_and(|value| values.iter().any(|glob| glob.matches(value)));
            if is_listed == kind.excludes {
                let shown = value.map_or("None".to_owned(), quoted);
                let (label, key) = (kind.label, kind.key);
                return (
                    false,
                    match (kind.excludes, kind.globs) {
                        (true, true) => format!("{label} {shown} matches {key}"),
                        (true, false) => format!("{label} {shown} is excluded"),
                        (false, _) => format!("{label} {shown} not in {key}"),
                    },
                );
            }
        }
        (true, format!("visible under profile {}", quoted(&self.name)))
    }
}

/// Refuses a value that no inventory has: a list with a typing error would hide nothing.
fn known(kind: &ListKind, text: &str, path: &str) -> Result<()> {
    let all = INVENTORY_FIELDS.iter().find(|(field, _)| kind.field == Some(field)).map_or(&[][..], |(_, all)| *all);
    if all.contains(&text) {
        return Ok(());
    }
    let error = Error::new(ErrorCode::InvalidInput, format!("{} is no {}", quote(text), kind.label)).at(path);
    Err(error.hint(format!("one of {}", all.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(namespace: &str, inventory: &Value) -> SelectableItem {
        let metadata = json!({ RESERVED_KEY: { "inventory": inventory } });
        let metadata = metadata.as_object().unwrap().clone();
        SelectableItem { namespace: namespace.to_owned(), metadata, ..SelectableItem::default() }
    }

    #[test]
    fn excluded_is_what_is_known_and_allowed_what_is_listed() {
        for (profile, inventory, reason) in [
            (json!({}), json!({}), None),
            (
                json!({ "exclude_namespaces": ["b*"] }),
                json!({}),
                Some("namespace 'billing' matches exclude_namespaces"),
            ),
            (
                json!({ "include_namespaces": ["git*"] }),
                json!({}),
                Some("namespace 'billing' not in include_namespaces"),
            ),
            (json!({ "include_namespaces": [] }), json!({}), Some("namespace 'billing' not in include_namespaces")),
            (json!({ "include_namespaces": null }), json!({}), None),
            (
                json!({ "exclude_domains": ["fin*"] }),
                json!({ "business_domain": "finance" }),
                Some("domain 'finance' matches exclude_domains"),
            ),
            (json!({ "exclude_domains": ["*"] }), json!({}), None),
            (json!({ "include_domains": ["*"] }), json!({}), Some("domain None not in include_domains")),
            (
                json!({ "exclude_risk_levels": ["high"] }),
                json!({ "risk_level": "high" }),
                Some("risk_level 'high' is excluded"),
            ),
            (
                json!({ "environments": ["prod"] }),
                json!({ "environment": "dev" }),
                Some("environment 'dev' not in environments"),
            ),
            (json!({ "environments": ["prod", "dev"] }), json!({ "environment": "dev" }), None),
            (
                json!({ "allow_side_effects": ["none"] }),
                json!("read"),
                Some("side_effects None not in allow_side_effects"),
            ),
        ] {
            let mut profile = profile;
            profile["name"] = "p".into();
            let read = VisibilityProfile::from_value(profile.clone(), "").unwrap();
            let wanted = reason.map_or((true, "visible under profile 'p'"), |reason| (false, reason));
            let (visible, reason) = read.ruling(&item("billing", &inventory));
            assert_eq!((visible, reason.as_str()), wanted, "{profile}");
            assert_eq!(VisibilityProfile::from_value(read.to_json(), "").unwrap(), read);
        }
    }

    #[test]
    fn profiles_of_another_shape_are_refused() {
        for (profile, code, path) in [
            (json!({}), "MISSING_FIELD", "/v/name"),
            (json!({ "name": " " }), "INVALID_INPUT", "/v/name"),
            (json!({ "name": "p", "exclud_domains": [] }), "UNKNOWN_FIELD", "/v/exclud_domains"),
            (json!({ "name": "p", "exclude_domains": "billing" }), "INVALID_INPUT", "/v/exclude_domains"),
            // It would hide nothing.
            (json!({ "name": "p", "exclude_risk_levels": ["hihg"] }), "INVALID_INPUT", "/v/exclude_risk_levels/0"),
            (json!({ "name": "p", "include_namespaces": [""] }), "INVALID_INPUT", "/v/include_namespaces/0"),
        ] {
            let error = VisibilityProfile::from_value(profile.clone(), "/v").unwrap_err();
            assert_eq!((error.code().as_str(), error.path()), (code, path), "{profile}");
        }
    }
}
