//! Reading records by serde, with the checks and the defaults of `from_value`.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::{
    ArtifactRef, BuildStats, CandidateExplanation, ContextBudget, ContextItem, ContextPack, ContextPolicy, Episode,
    Explanation, Fact, FirewallStats, HydrationResult, MemoryEntry, ProfileConfig, ResultEnvelope, RoutingConfig,
    SelectableItem, ViewSpec,
};

macro_rules! deserialize_by {
    ($($name:ident $read:expr;)+) => { $(
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let read: fn(Value) -> contextweaver_base::Result<Self> = $read;
                read(Value::deserialize(deserializer)?).map_err(D::Error::custom)
            }
        }
    )+ };
}

deserialize_by! {
    ArtifactRef |value| Self::from_value(value, "");
    BuildStats |value| Self::from_value(value, "");
    CandidateExplanation |value| Self::from_value(value, "");
    ContextBudget |value| Self::from_value(value, "", false);
    ContextItem |value| Self::from_value(value, "");
    ContextPack |value| Self::from_value(value, "");
    ContextPolicy |value| Self::from_value(value, "", Self::default(), false);
    Episode |value| Self::from_value(value, "");
    Explanation |value| Self::from_value(value, "");
    Fact |value| Self::from_value(value, "");
    FirewallStats |value| Self::from_value(value, "");
    HydrationResult |value| Self::from_value(value, "");
    MemoryEntry |value| Self::from_value(value, "");
    ProfileConfig |value| Self::from_value(value, "");
    ResultEnvelope |value| Self::from_value(value, "");
    RoutingConfig |value| Self::from_value(value, "");
    SelectableItem |value| Self::from_value(value, "");
    ViewSpec |value| Self::from_value(value, "");
}

#[cfg(test)]
mod tests {
    use serde::Serialize;
    use serde::de::DeserializeOwned;
    use serde_json::json;

    use super::*;
    use crate::{ItemKind, Phase, Sensitivity};

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
