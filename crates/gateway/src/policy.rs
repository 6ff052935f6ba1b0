//! Who may call what: rules in order, the first that matches decides.

use serde_json::{Value, json};

use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_convert::mcp::name_part;
use contextweaver_model::json::{Field, Fields, JsonMap, wrong_type};
use contextweaver_text::quote::quote;

use crate::failure::{GatewayError, GatewayErrorCode};
use crate::front::JOINT;
use crate::glob::Glob;

/// Rules of one policy.
pub const MAX_RULES: usize = 1_000;

/// The kinds of access that a rule may be restricted to: calls of tools in every mode, and reads of stored results.
pub const POLICY_META_TOOLS: &[&str] = &["tool_execute", "tool_view"];

/// What a policy says about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyAction {
    /// It goes on.
    Allow,
    /// It is refused.
    Deny,
    /// It goes on once somebody has approved it.
    Ask,
}

impl PolicyAction {
    /// Returns the action as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::Ask => "ask",
        }
    }
}

/// An action with the word it was written with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct WrittenAction {
    action: PolicyAction,
    word: &'static str,
}

impl WrittenAction {
    const fn new(action: PolicyAction) -> Self {
        Self { action, word: action.as_str() }
    }

    /// Reads `allow`, `deny`, `ask`, or `require_approval`, which contextweaver for Python calls the last.
    fn parse(text: &str) -> Result<Self> {
        Ok(match text {
            "allow" => Self::new(PolicyAction::Allow),
            "deny" => Self::new(PolicyAction::Deny),
            "ask" => Self::new(PolicyAction::Ask),
            "require_approval" => Self { action: PolicyAction::Ask, word: "require_approval" },
            other => {
                let message = format!("no action of a policy is called {}", quote(other));
                return Err(Error::new(ErrorCode::InvalidInput, message).hint("one of allow, deny, ask"));
            }
        })
    }
}

/// What a policy is asked about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PolicySubject<'a> {
    /// One of [`POLICY_META_TOOLS`], or another meta-tool, of which no rule speaks by name.
    pub meta_tool: Option<&'a str>,
    /// The id of the tool; empty where there is none.
    pub tool_id: &'a str,
    /// The name of the server in the configuration; empty where there is none.
    pub server: &'a str,
    /// The namespace; empty where there is none.
    pub namespace: &'a str,
    /// The name that the server gives the tool.
    pub tool_name: &'a str,
    /// The name that clients see; empty where there is none.
    pub shown_name: &'a str,
    /// The name with the server before it, `<server>__<tool>`, whether clients see that or not; empty where there is none.
    pub qualified_name: &'a str,
    /// The tags of the tool.
    pub tags: &'a [String],
    /// Whether it changes nothing, as far as is known.
    pub read_only: bool,
    /// Whether it may destroy something.
    pub destructive: bool,
    /// Who calls, if that is known.
    pub caller: Option<&'a str>,
}

/// What a policy decided and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyRuling {
    /// The decision.
    pub action: PolicyAction,
    /// The reason of the rule, or which rule it was.
    pub reason: String,
    /// The place of the rule; none for the default.
    pub rule_index: Option<usize>,
}

impl PolicyRuling {
    /// Returns what a model is told, unless the call is allowed.
    pub fn to_error(&self, subject: &PolicySubject) -> Option<GatewayError> {
        let (code, message) = match self.action {
            PolicyAction::Allow => return None,
            PolicyAction::Deny => (GatewayErrorCode::PolicyDenied, "the policy denies this call"),
            PolicyAction::Ask => (GatewayErrorCode::AuthRequired, "this call needs approval"),
        };
        let mut error = GatewayError::new(code, message).at(subject.tool_id);
        if let Some(meta_tool) = subject.meta_tool {
            error = error.detail("meta_tool", meta_tool);
        }
        error = error.detail("reason", self.reason.as_str());
        Some(if self.action == PolicyAction::Ask { error.detail("approval", "required") } else { error })
    }
}

/// One rule: an action, and what has to hold for it. Without any constraint it matches everything.
#[derive(Debug, Clone, PartialEq)]
struct PolicyRule {
    action: WrittenAction,
    meta_tool: Option<&'static str>,
    namespace: Option<String>,
    tool: Option<Glob>,
    server: Option<Glob>,
    caller: Option<Glob>,
    tags: Option<Vec<String>>,
    read_only: Option<bool>,
    destructive: Option<bool>,
    reason: Option<String>,
}

/// Rules in order. The first rule that matches decides, else the default.
///
/// ```
/// use contextweaver_gateway::{PolicyAction, PolicySubject, ToolPolicy};
/// use serde_json::json;
///
/// let rules = json!({ "rules": [{ "action": "ask", "namespace": "github", "tool": "issues.*" }] });
/// let policy = ToolPolicy::from_value(rules, "/policy")?;
/// let subject = PolicySubject {
///     tool_id: "github:issues.create#aaaaaaaa", namespace: "github", tool_name: "github.issues.create",
///     ..PolicySubject::default()
/// };
/// let ruling = policy.evaluate(&subject);
/// assert_eq!((ruling.action, ruling.reason.as_str()), (PolicyAction::Ask, "matched rule #0 (ask)"));
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ToolPolicy {
    default: WrittenAction,
    rules: Vec<PolicyRule>,
}

impl Default for ToolPolicy {
    /// Allows everything.
    fn default() -> Self {
        Self { default: WrittenAction::new(PolicyAction::Allow), rules: Vec::new() }
    }
}

impl Field for ToolPolicy {
    fn read(value: Value, path: &str) -> Result<Self> {
        Self::from_value(value, path)
    }
}

impl ToolPolicy {
    /// Makes a policy with one rule: this action for every access of one kind.
    pub(crate) fn of_meta_tool(action: PolicyAction, meta_tool: &'static str, reason: &str) -> Self {
        let rule = PolicyRule {
            meta_tool: Some(meta_tool),
            reason: Some(reason.to_owned()),
            ..PolicyRule::of(WrittenAction::new(action))
        };
        Self { rules: vec![rule], ..Self::default() }
    }

    /// Reads `{default?, rules?}`. A rule has an `action`, and as constraints `meta_tool`, `namespace` (exactly), `tool`
    /// (a glob: the id, the server's name of the tool, or either without its namespace, the name that clients see, or
    /// `<server>__<tool>`), `server` and `caller` (globs), `tags` (all of them), `read_only`, `destructive`; and a `reason`.
    ///
    /// A server chooses the names of its tools, also one that looks like an id of another server: a rule that allows
    /// something names the `server` or the `namespace` as well. One that does not is not met by a server's own name that has
    /// `__` in it, as that would be another's with the server before it.
    ///
    /// # Errors
    /// `UNKNOWN_FIELD` with a hint, as a rule with a typing error would match everything; `INVALID_INPUT`,
    /// `MISSING_FIELD` and `TOO_LARGE`, with the path of the field.
    pub fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        let default = fields.parsed_or("default", WrittenAction::new(PolicyAction::Allow), WrittenAction::parse)?;
        let rules = fields.records("rules", PolicyRule::from_value)?;
        if rules.len() > MAX_RULES {
            let message = format!("the policy has {} rules, the limit is {MAX_RULES}", rules.len());
            return Err(Error::new(ErrorCode::TooLarge, message).at(fields.at("rules")));
        }
        fields.finish()?;
        Ok(Self { default, rules })
    }

    /// Returns the policy as [`Self::from_value`] reads it, actions as they were written.
    pub fn to_json(&self) -> Value {
        let rules: Vec<Value> = self.rules.iter().map(PolicyRule::to_json).collect();
        json!({ "default": self.default.word, "rules": rules })
    }

    /// Tells whether it allows every access of a kind, whatever it is of and whoever asks.
    pub(crate) fn allows_all(&self, meta_tool: &str) -> bool {
        let speaks_of = |rule: &PolicyRule| rule.meta_tool.is_none_or(|name| name == meta_tool);
        self.default.action == PolicyAction::Allow
            && self.rules.iter().filter(|rule| speaks_of(rule)).all(|rule| rule.action.action == PolicyAction::Allow)
    }

    /// Returns the rules, among so many, whose `tool` none of these matches, with what it says.
    pub(crate) fn unmatched(&self, subjects: &[PolicySubject], most: usize) -> Vec<(usize, String)> {
        let named = self.rules.iter().enumerate().filter_map(|(at, rule)| Some((at, rule, rule.tool.as_ref()?)));
        let is_met =
            |rule: &PolicyRule| subjects.iter().any(|subject| rule.means(subject, &ToolNameForms::of(subject)));
        let unmet = named.take(most).filter(|(_, rule, _)| !is_met(rule));
        unmet.map(|(at, _, glob)| (at, glob.as_str().to_owned())).collect()
    }

    /// Decides about a call.
    pub fn evaluate(&self, subject: &PolicySubject) -> PolicyRuling {
        let names = ToolNameForms::of(subject);
        let found = self.rules.iter().enumerate().find(|(_, rule)| rule.matches(subject, &names));
        match found {
            Some((index, rule)) => PolicyRuling {
                action: rule.action.action,
                reason: rule.reason.clone().unwrap_or_else(|| format!("matched rule #{index} ({})", rule.action.word)),
                rule_index: Some(index),
            },
            None => PolicyRuling {
                action: self.default.action,
                reason: format!("default ({})", self.default.word),
                rule_index: None,
            },
        }
    }
}

impl PolicyRule {
    const FIELDS: &'static [&'static str] =
        &["action", "meta_tool", "namespace", "tool", "server", "caller", "tags", "read_only", "destructive", "reason"];

    const fn of(action: WrittenAction) -> Self {
        Self {
            action,
            meta_tool: None,
            namespace: None,
            tool: None,
            server: None,
            caller: None,
            tags: None,
            read_only: None,
            destructive: None,
            reason: None,
        }
    }

    fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = Fields::open_closed(value, path, Self::FIELDS)?;
        // A variable that was empty in a template must not make a rule match everything.
        if let Some(key) = Self::FIELDS.iter().find(|key| fields.peek(key).is_some_and(Value::is_null)) {
            let error = wrong_type(&fields.at(key), "a value", &Value::Null);
            return Err(error.hint("leave a constraint out to match everything"));
        }
        let mut rule = Self::of(fields.parsed("action", WrittenAction::parse)?);
        if let Some(name) = fields.opt_string("meta_tool")? {
            let known = POLICY_META_TOOLS.iter().copied().find(|known| *known == name);
            rule.meta_tool = Some(known.ok_or_else(|| {
                Error::new(ErrorCode::InvalidInput, format!("no rule speaks of {}", quote(&name)))
                    .at(fields.at("meta_tool"))
                    .hint(format!("one of {}", POLICY_META_TOOLS.join(", ")))
            })?);
        }
        let mut glob = |key: &'static str| -> Result<Option<Glob>> {
            let text = fields.opt_string(key)?;
            text.map(|text| Glob::read(&text, &fields.at(key))).transpose()
        };
        (rule.tool, rule.server, rule.caller) = (glob("tool")?, glob("server")?, glob("caller")?);
        rule.namespace = fields.opt_string("namespace")?;
        rule.tags = fields.has("tags").then(|| fields.strings("tags")).transpose()?;
        let mut flag = |key: &'static str| -> Result<Option<bool>> {
            fields.has(key).then(|| fields.bool_or(key, false)).transpose()
        };
        (rule.read_only, rule.destructive) = (flag("read_only")?, flag("destructive")?);
        rule.reason = fields.opt_string("reason")?;
        Ok(rule)
    }

    fn to_json(&self) -> Value {
        let mut map = JsonMap::new();
        map.insert("action".to_owned(), self.action.word.into());
        let texts = [
            ("meta_tool", self.meta_tool),
            ("namespace", self.namespace.as_deref()),
            ("tool", self.tool.as_ref().map(Glob::as_str)),
            ("server", self.server.as_ref().map(Glob::as_str)),
            ("caller", self.caller.as_ref().map(Glob::as_str)),
        ];
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                map.insert(key.to_owned(), value);
            }
        };
        for (key, text) in texts {
            put(key, text.map(Value::from));
        }
        put("tags", self.tags.as_ref().map(|tags| tags.iter().map(String::as_str).collect()));
        put("read_only", self.read_only.map(Value::from));
        put("destructive", self.destructive.map(Value::from));
        put("reason", self.reason.as_deref().map(Value::from));
        Value::Object(map)
    }

    fn matches(&self, subject: &PolicySubject, names: &ToolNameForms) -> bool {
        self.meta_tool.is_none_or(|name| subject.meta_tool == Some(name))
            && self.means(subject, names)
            && self.read_only.is_none_or(|flag| flag == subject.read_only)
            && self.destructive.is_none_or(|flag| flag == subject.destructive)
            && self.tags.iter().flatten().all(|tag| subject.tags.contains(tag))
            && self.caller.as_ref().is_none_or(|glob| subject.caller.is_some_and(|caller| glob.matches(caller)))
    }

    /// Whether it speaks of a tool by its server and its names.
    fn means(&self, subject: &PolicySubject, names: &ToolNameForms) -> bool {
        let is_of_server = self.namespace.as_deref().is_none_or(|namespace| namespace == subject.namespace)
            && self.server.as_ref().is_none_or(|glob| glob.matches(subject.server));
        let is_anybodys = self.namespace.is_none() && self.server.is_none();
        let is_strict = self.action.action == PolicyAction::Allow && is_anybodys;
        is_of_server && self.tool.as_ref().is_none_or(|glob| names.are_met(glob, is_strict))
    }
}

/// The names by which a rule may mean a tool.
struct ToolNameForms<'a> {
    /// Those that its server alone chooses.
    own: [&'a str; 3],
    /// Those that the gateway makes.
    made: [&'a str; 3],
    /// The server's own with the server before it; empty where the server is not known.
    qualified: String,
}

impl<'a> ToolNameForms<'a> {
    fn of(subject: &PolicySubject<'a>) -> Self {
        // The name stands between the namespace and the version or the hash: `github:issues.create@2#1a3c0cec`.
        let body = subject.tool_id.split_once(':').map_or(subject.tool_id, |(_, body)| body);
        let body = body.rfind(['@', '#']).map_or(body, |end| body.get(..end).unwrap_or(body));
        let body = body.rsplit_once('@').map_or(body, |(name, _)| name);
        let is_known = !subject.server.is_empty() && !subject.tool_name.is_empty();
        Self {
            own: [subject.tool_name, body, name_part(subject.tool_name)],
            made: [subject.tool_id, subject.shown_name, subject.qualified_name],
            qualified: if is_known { [subject.server, JOINT, subject.tool_name].concat() } else { String::new() },
        }
    }

    /// Whether a glob matches one of them; where it is strict, none that could be read as another server's.
    fn are_met(&self, glob: &Glob, is_strict: bool) -> bool {
        let own = self.own.iter().filter(|name| !is_strict || !name.contains(JOINT)).copied();
        let made = self.made.iter().copied().chain(Some(self.qualified.as_str()).filter(|_| !is_strict));
        own.chain(made).any(|name| glob.matches(name))
    }
}

#[cfg(test)]
mod tests {
    use contextweaver_test_support::property;
    use proptest::prelude::*;

    use super::*;

    fn policy(value: Value) -> ToolPolicy {
        ToolPolicy::from_value(value, "").unwrap()
    }

    const SUBJECT: PolicySubject = PolicySubject {
        meta_tool: Some("tool_execute"),
        tool_id: "github:issues.create#aaaaaaaa",
        server: "gh-prod",
        namespace: "github",
        tool_name: "github.issues.create",
        shown_name: "github.issues.create",
        qualified_name: "gh-prod__github.issues.create",
        tags: &[],
        read_only: false,
        destructive: true,
        caller: Some("ada"),
    };

    #[test]
    fn constraints_hold_together() {
        let tags = ["mcp".to_owned(), "destructive".to_owned()];
        let subject = PolicySubject { tags: &tags, ..SUBJECT };
        for (rule, matches) in [
            (json!({}), true),
            (json!({ "meta_tool": "tool_execute" }), true),
            (json!({ "meta_tool": "tool_view" }), false),
            (json!({ "namespace": "github" }), true),
            (json!({ "namespace": "git*" }), false),
            (json!({ "tool": "github:issues.*" }), true),
            (json!({ "tool": "github.issues.*" }), true),
            // What the documentation of 0.18 shows and what matched nothing there.
            (json!({ "namespace": "github", "tool": "issues.*" }), true),
            (json!({ "tool": "issues.create" }), true),
            (json!({ "tool": "create" }), false),
            (json!({ "tags": ["destructive", "mcp"] }), true),
            (json!({ "tags": ["destructive", "x"] }), false),
            (json!({ "tags": [] }), true),
            (json!({ "read_only": false }), true),
            (json!({ "read_only": true }), false),
            (json!({ "destructive": true }), true),
            (json!({ "destructive": false }), false),
            (json!({ "server": "gh-*" }), true),
            (json!({ "server": "github" }), false),
            (json!({ "caller": "a?a" }), true),
            (json!({ "caller": "eve" }), false),
            (json!({ "caller": "*", "server": "x" }), false),
        ] {
            let mut rule = rule;
            rule["action"] = "deny".into();
            let found = policy(json!({ "rules": [rule] })).evaluate(&subject).action == PolicyAction::Deny;
            assert_eq!(found, matches, "{rule}");
        }
        // Nobody is no caller, so that a rule for callers does not open a door for all.
        let nobody = PolicySubject { caller: None, ..SUBJECT };
        let all = policy(json!({ "default": "deny", "rules": [{ "action": "allow", "caller": "*" }] }));
        assert_eq!(all.evaluate(&nobody).action, PolicyAction::Deny);
    }

    #[test]
    fn a_name_is_found_in_every_form_of_id() {
        for id in ["github:read@1.2", "github:read#00000000", "github:read@1.2#00000000", "github:read"] {
            let subject = PolicySubject { tool_id: id, ..PolicySubject::default() };
            let deny = policy(json!({ "rules": [{ "action": "deny", "tool": "read" }] }));
            assert_eq!(deny.evaluate(&subject).action, PolicyAction::Deny, "{id}");
        }
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        let long = "x".repeat(2_000);
        for (given, code, path) in [
            (json!([]), "INVALID_INPUT", "/p"),
            (json!({ "defualt": "deny" }), "UNKNOWN_FIELD", "/p/defualt"),
            (json!({ "default": "maybe" }), "INVALID_INPUT", "/p/default"),
            (json!({ "rules": {} }), "INVALID_INPUT", "/p/rules"),
            (json!({ "rules": [1] }), "INVALID_INPUT", "/p/rules/0"),
            (json!({ "rules": [{}] }), "MISSING_FIELD", "/p/rules/0/action"),
            (json!({ "rules": [{ "action": "block" }] }), "INVALID_INPUT", "/p/rules/0/action"),
            // It would otherwise deny everything.
            (json!({ "rules": [{ "action": "deny", "namespaces": ["x"] }] }), "UNKNOWN_FIELD", "/p/rules/0/namespaces"),
            (json!({ "rules": [{ "action": "deny", "tool": null }] }), "INVALID_INPUT", "/p/rules/0/tool"),
            (json!({ "rules": [{ "action": "deny", "tool": "" }] }), "INVALID_INPUT", "/p/rules/0/tool"),
            (json!({ "rules": [{ "action": "deny", "tool": long }] }), "TOO_LARGE", "/p/rules/0/tool"),
            (json!({ "rules": [{ "action": "deny", "tags": "a" }] }), "INVALID_INPUT", "/p/rules/0/tags"),
            (json!({ "rules": [{ "action": "deny", "read_only": 1 }] }), "INVALID_INPUT", "/p/rules/0/read_only"),
            (
                json!({ "rules": [{ "action": "deny", "meta_tool": "tool_browse" }] }),
                "INVALID_INPUT",
                "/p/rules/0/meta_tool",
            ),
            (json!({ "rules": vec![json!({ "action": "deny" }); MAX_RULES + 1] }), "TOO_LARGE", "/p/rules"),
        ] {
            let error = ToolPolicy::from_value(given.clone(), "/p").unwrap_err();
            assert_eq!((error.code().as_str(), error.path()), (code, path), "{given}");
        }
        let typo = json!({ "rules": [{ "action": "deny", "namespaces": "x" }] });
        let hint = ToolPolicy::from_value(typo, "").unwrap_err().to_json()["hint"].take();
        assert_eq!(hint, "did you mean `namespace`?");
    }

    #[test]
    fn a_policy_is_written_as_it_was_read() {
        let given = json!({ "default": "require_approval", "rules": [
            { "action": "ask", "meta_tool": "tool_view", "namespace": "a", "tool": "b*", "server": "c", "caller": "d",
              "tags": ["e"], "read_only": true, "destructive": false, "reason": "f" },
            { "action": "require_approval", "tags": [] },
        ] });
        let read = policy(given.clone());
        assert_eq!(read.to_json(), given);
        let subject = PolicySubject::default();
        assert_eq!(read.evaluate(&subject).reason, "matched rule #1 (require_approval)");
        let error = read.evaluate(&subject).to_error(&subject).unwrap().to_json();
        let details = json!({ "reason": "matched rule #1 (require_approval)", "approval": "required" });
        assert_eq!((&error["error"], &error["details"]), (&json!("AUTH_REQUIRED"), &details));
        assert_eq!(ToolPolicy::default().evaluate(&subject).to_error(&subject), None);
    }

    fn rules() -> impl Strategy<Value = Vec<Value>> {
        let action = prop::sample::select(vec!["allow", "deny", "ask", "require_approval"]);
        let key = prop::sample::select(vec![
            ("namespace", json!("a")),
            ("tool", json!("a*")),
            ("tool", json!("*b")),
            ("server", json!("[ab]")),
            ("caller", json!("?")),
            ("tags", json!(["a"])),
            ("read_only", json!(true)),
            ("destructive", json!(true)),
            ("meta_tool", json!("tool_view")),
        ]);
        let rule = (action, prop::collection::vec(key, 0..3)).prop_map(|(action, keys)| {
            let mut rule = json!({ "action": action });
            for (key, value) in keys {
                rule[key] = value;
            }
            rule
        });
        prop::collection::vec(rule, 0..6)
    }

    proptest! {
        #![proptest_config(property(2_000))]

        #[test]
        fn the_first_rule_that_matches_alone_decides(
            rules in rules(), default in prop::sample::select(vec!["allow", "deny", "ask"]),
            texts in prop::collection::vec("[ab:.]{0,3}", 4), tag in "[ab]", read_only: bool, destructive: bool,
            caller in prop::option::of("[ab]"), is_view: bool,
        ) {
            let tags = [tag];
            let subject = PolicySubject {
                meta_tool: Some(if is_view { "tool_view" } else { "tool_execute" }), tool_id: &texts[0],
                server: &texts[1], namespace: &texts[2], tool_name: &texts[3], tags: &tags, read_only, destructive,
                caller: caller.as_deref(), ..PolicySubject::default()
            };
            let whole = policy(json!({ "default": default, "rules": rules }));
            let ruling = whole.evaluate(&subject);
            let matches = |rule: &Value| {
                let alone = policy(json!({ "default": default, "rules": [rule] }));
                alone.evaluate(&subject).rule_index.is_some()
            };
            prop_assert_eq!(ruling.rule_index, rules.iter().position(matches));
            let word = ruling.rule_index.map_or(default, |index| rules[index]["action"].as_str().unwrap());
            prop_assert_eq!(ruling.action, WrittenAction::parse(word).unwrap().action);
            // Read again, it decides the same.
            prop_assert_eq!(policy(whole.to_json()).evaluate(&subject), ruling);
        }
    }
}
