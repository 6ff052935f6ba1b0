//! The context of tool calls, beside their arguments: which keys there may be, which of them are secret, what a lower level
//! may change, and which entries a policy forwards.
//!
//! Only keys and flags come here; the values stay with the caller until a policy has forwarded them.

mod meta;
mod meta_name;
mod trace;

use contextweaver_base::order::SortedMap;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_text::quote::quote;

pub use meta::{FromMetaOptions, MAX_META_BYTES, ToMetaOptions, from_meta, open_meta, to_meta};
pub use meta_name::OnInvalidKey;

/// Longest key, in bytes of UTF-8.
pub const MAX_KEY_BYTES: usize = 256;

/// The flags of an entry: a set of the constants below.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EntryFlags(pub u8);

impl EntryFlags {
    /// The key is called like a secret.
    pub const NAMED: u8 = 1;
    /// The entry was declared a secret.
    pub const DECLARED: u8 = 1 << 1;
    /// The value is no secret, whatever the name of the key suggests.
    pub const DECLASSIFIED: u8 = 1 << 2;
    /// The entry is never forwarded, whatever a policy says.
    pub const KEPT: u8 = 1 << 3;
    /// No lower level may change the entry.
    pub const SEALED: u8 = 1 << 4;
    /// The value is not JSON: a function, a handle.
    pub const LOCAL: u8 = 1 << 5;
    /// The value came from a client over the protocol.
    pub const INBOUND: u8 = 1 << 6;
    /// Every flag; greater numbers are refused.
    pub const ALL: u8 = (1 << 7) - 1;
    /// Flags that a lower level cannot take away from a key.
    const LASTING: u8 = Self::DECLARED | Self::KEPT | Self::SEALED;

    /// Tells whether one of the flags is set.
    pub const fn has(self, flags: u8) -> bool {
        self.0 & flags != 0
    }

    /// Tells whether the value is a secret: by declaration, or by the key's name unless that means nothing.
    pub const fn is_secret(self) -> bool {
        self.has(Self::DECLARED) || self.has(Self::NAMED) && !self.has(Self::DECLASSIFIED)
    }
}

/// An entry of a context without its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextEntry {
    /// The key, as [`check_key`] accepts it.
    pub key: String,
    /// The flags of the entry.
    pub flags: EntryFlags,
}

/// Makes an error with a `reason` and the `key` in its details.
fn refused(code: ErrorCode, reason: &str, message: String, key: &str) -> Error {
    Error::new(code, message).detail("reason", reason).detail("key", key)
}

/// Checks that a text can be a key: not empty, at most [`MAX_KEY_BYTES`].
///
/// # Errors
/// `INVALID_INPUT` with the reason `InvalidContextKey`.
///
/// ```
/// use contextweaver_convert::tools::call_context::check_key;
///
/// assert!(check_key("tenantId").is_ok());
/// assert!(check_key("").is_err());
/// ```
pub fn check_key(key: &str) -> Result<()> {
    let message = match key.len() {
        1..=MAX_KEY_BYTES => return Ok(()),
        0 => "a key may not be empty".to_owned(),
        length => format!("a key has {length} bytes, the limit is {MAX_KEY_BYTES}"),
    };
    Err(Error::new(ErrorCode::InvalidInput, message).detail("reason", "InvalidContextKey"))
}

/// What names of secrets contain, in lower case and without separators.
#[rustfmt::skip]
const SECRET_PARTS: &[&str] = &[
    "token", "secret", "password", "passwd", "apikey", "authorization", "cookie", "credential", "privatekey", "bearer",
    "session",
];

/// A word that names secrets only where it stands alone: authors and authorities are none.
const SECRET_WORD: &str = "auth";

/// Tells whether a key is called like a secret.
///
/// Most words count wherever they are, as in `dbpassword` or `API-KEY`: an entry too many that is not shown does less harm
/// than one too few.
///
/// ```
/// use contextweaver_convert::tools::call_context::is_secret_name;
///
/// assert!(is_secret_name("apiKey") && is_secret_name("x-auth-header"));
/// assert!(!is_secret_name("author"));
/// ```
pub fn is_secret_name(key: &str) -> bool {
    let plain: String = key.chars().filter(char::is_ascii_alphanumeric).map(|ch| ch.to_ascii_lowercase()).collect();
    SECRET_PARTS.iter().any(|part| plain.contains(part)) || has_word(key, SECRET_WORD)
}

/// Tells whether one of a key's words, as separators and capitals divide it, is this one.
fn has_word(key: &str, wanted: &str) -> bool {
    let bytes = key.as_bytes();
    let letter = |at: usize| bytes.get(at).copied().filter(u8::is_ascii_alphabetic);
    let starts = |at: usize| match (at.checked_sub(1).and_then(letter), letter(at)) {
        (Some(before), Some(this)) if this.is_ascii_uppercase() => {
            // The last capital of several begins a word when a small letter follows: `HTTPAuth`.
            before.is_ascii_lowercase() || letter(at + 1).is_some_and(|next| next.is_ascii_lowercase())
        }
        (before, this) => before.is_none() || this.is_none(),
    };
    let same = |(at, word): (usize, &[u8])| {
        word.eq_ignore_ascii_case(wanted.as_bytes()) && starts(at) && starts(at + wanted.len())
    };
    bytes.windows(wanted.len()).enumerate().any(same)
}

contextweaver_model::string_enum! {
    /// What happens when a lower level sets a sealed key.
    #[derive(Default)]
    OnSealedKey, "settlement of a conflict" {
        /// The merge fails with the reason `SealedKeyConflict`.
        #[default]
        Throw = "throw",
        /// The value of the upper level stays.
        KeepUpper = "keep-upper",
    }
}

/// An entry of merged levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MergedEntry {
    /// Index of the level that its value comes from.
    pub level: usize,
    /// Index of the entry in that level.
    pub index: usize,
    /// The flags after the merge.
    pub flags: EntryFlags,
}

/// Merges levels, the uppermost first: later values win and keep the position of the first.
///
/// Declared secrets, kept and sealed entries stay so under the value of another level. [`EntryFlags::DECLASSIFIED`] holds
/// for the value it was set for, and not for the next.
///
/// # Errors
/// `POLICY_VIOLATION` with the reason `SealedKeyConflict`, unless conflicts keep the upper value.
///
/// ```
/// use contextweaver_convert::tools::call_context::{ContextEntry, EntryFlags, OnSealedKey, merge_levels};
///
/// let entry = |key: &str, flags| ContextEntry { key: key.to_owned(), flags: EntryFlags(flags) };
/// let levels = [vec![entry("tenant", EntryFlags::SEALED)], vec![entry("tenant", 0), entry("locale", 0)]];
/// let merged = merge_levels(&levels, OnSealedKey::KeepUpper)?;
/// // The tenant of level 0, the locale of level 1.
/// assert_eq!(merged.iter().map(|entry| (entry.level, entry.index)).collect::<Vec<_>>(), [(0, 0), (1, 1)]);
/// assert!(merge_levels(&levels, OnSealedKey::Throw).is_err());
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn merge_levels(levels: &[Vec<ContextEntry>], on_conflict: OnSealedKey) -> Result<Vec<MergedEntry>> {
    let mut found: Vec<MergedEntry> = Vec::new();
    let mut positions: SortedMap<&str, usize> = SortedMap::new();
    for (level, entries) in levels.iter().enumerate() {
        for (index, entry) in entries.iter().enumerate() {
            let Some(at) = positions.get(entry.key.as_str()).copied() else {
                positions.insert(&entry.key, found.len());
                found.push(MergedEntry { level, index, flags: entry.flags });
                continue;
            };
            let upper = &mut found[at];
            if upper.flags.has(EntryFlags::SEALED) && upper.level < level {
                match on_conflict {
                    OnSealedKey::KeepUpper => continue,
                    OnSealedKey::Throw => return Err(sealed(&entry.key)),
                }
            }
            let lasting = upper.flags.0 & EntryFlags::LASTING;
            *upper = MergedEntry { level, index, flags: EntryFlags(entry.flags.0 | lasting) };
        }
    }
    Ok(found)
}

fn sealed(key: &str) -> Error {
    let message = format!("the key {} is sealed by an upper level", quote(key));
    refused(ErrorCode::PolicyViolation, "SealedKeyConflict", message, key)
}

/// Which entries are forwarded to another program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForwardPolicy {
    /// No entry is forwarded.
    None,
    /// The named keys; of the secrets those that are named a second time.
    Allow {
        /// Keys that are forwarded unless they are secret.
        keys: Vec<String>,
        /// Keys of secrets that are forwarded.
        secrets: Vec<String>,
    },
    /// All but the named keys and secrets.
    Deny(Vec<String>),
    /// All but secrets, or all.
    PassThrough {
        /// Whether secrets are forwarded, too.
        include_secrets: bool,
    },
    /// The entries that every one of these forwards.
    Compose(Vec<ForwardPolicy>),
}

/// How a policy forwards an entry; the more explicit, the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Admission {
    No,
    /// Because it is neither secret nor denied.
    Any,
    /// Because its key is named.
    Named,
}

impl ForwardPolicy {
    fn admission(&self, entry: &ContextEntry) -> Admission {
        let is_secret = entry.flags.is_secret();
        let has = |keys: &[String]| keys.contains(&entry.key);
        match self {
            Self::Allow { keys, secrets } if has(secrets) || has(keys) && !is_secret => Admission::Named,
            Self::Deny(keys) if !is_secret && !has(keys) => Admission::Any,
            Self::PassThrough { include_secrets } if !is_secret || *include_secrets => Admission::Any,
            Self::None | Self::Allow { .. } | Self::Deny(_) | Self::PassThrough { .. } => Admission::No,
            Self::Compose(parts) => parts.iter().map(|part| part.admission(entry)).min().unwrap_or(Admission::No),
        }
    }
}

/// Returns the indices of the entries that a policy forwards.
///
/// [`EntryFlags::KEPT`] entries are never forwarded. [`EntryFlags::LOCAL`] values cannot be: where the policy admits one
/// that is not kept, or names it, that is an error.
///
/// # Errors
/// `INVALID_INPUT` with the reason `UnserialisableContextValue`.
///
/// ```
/// use contextweaver_convert::tools::call_context::{ContextEntry, EntryFlags, ForwardPolicy, forwarded_entries};
///
/// let entry = |key: &str, flags| ContextEntry { key: key.to_owned(), flags: EntryFlags(flags) };
/// let entries = [entry("tenantId", 0), entry("authToken", EntryFlags::NAMED)];
/// let policy = ForwardPolicy::PassThrough { include_secrets: false };
/// assert_eq!(forwarded_entries(&entries, &policy)?, [0]);
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn forwarded_entries(entries: &[ContextEntry], policy: &ForwardPolicy) -> Result<Vec<usize>> {
    let mut through = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let admission = policy.admission(entry);
        let is_local = entry.flags.has(EntryFlags::LOCAL);
        let is_kept = entry.flags.has(EntryFlags::KEPT);
        if admission == Admission::No || is_kept && !(is_local && admission == Admission::Named) {
            continue;
        }
        if is_local {
            let message = format!("the value of {} cannot leave this program: it is not JSON", quote(&entry.key));
            return Err(refused(ErrorCode::InvalidInput, "UnserialisableContextValue", message, &entry.key)
                .hint("leave the key out of the policy"));
        }
        through.push(index);
    }
    Ok(through)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(list: &[(&str, u8)]) -> Vec<ContextEntry> {
        list.iter().map(|(key, flags)| ContextEntry { key: (*key).to_owned(), flags: EntryFlags(*flags) }).collect()
    }

    fn strings(list: &[&str]) -> Vec<String> {
        list.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn keys_have_bounds() {
        for (key, fits) in [
            (String::new(), false),
            ("a".into(), true),
            ("__proto__".into(), true),
            ("constructor".into(), true),
            ("a".repeat(256), true),
            ("a".repeat(257), false),
            ("é".repeat(128), true),
            ("é".repeat(128) + "a", false),
        ] {
            let checked = check_key(&key);
            assert_eq!(checked.is_ok(), fits, "{key}");
            if let Err(error) = checked {
                assert_eq!(error.details()["reason"], "InvalidContextKey");
                assert!(!error.message().contains('é'));
            }
        }
    }

    #[test]
    fn names_tell_secrets() {
        #[rustfmt::skip]
        let secret = [
            "authToken", "token", "accesstoken", "API_KEY", "apiKey", "x-api-key", "api.key", "x/api-key", "dbPassword",
            "DBPASSWD", "clientSecret", "Authorization", "authorization", "auth", "Auth", "AUTH", "userAuth", "authHeader",
            "auth_header", "x-auth", "X_AUTH_HEADER", "HTTPAuth", "OAuth", "authInfo", "auth2", "2auth", "cookie", "setCookie",
            "credentials", "awsCredential", "private_key", "PrivateKeyPem", "bearer", "bearerValue", "sessionId", "SESSION",
        ];
        for key in secret {
            assert!(is_secret_name(key), "{key}");
        }
        #[rustfmt::skip]
        let plain = [
            "", "tenantId", "author", "authority", "coauthor", "unauthored", "Author", "AUTHOR", "key", "publicKey", "locale",
            "traceparent", "correlationId", "loopId", "deadline", "signal", "a", "é", "oauthé", "aut", "pass", "monkey",
        ];
        for key in plain {
            assert!(!is_secret_name(key), "{key}");
        }
    }

    #[test]
    fn declarations_outlast_guesses() {
        for (flags, secret) in [
            (0, false),
            (EntryFlags::NAMED, true),
            (EntryFlags::DECLASSIFIED, false),
            (EntryFlags::NAMED | EntryFlags::DECLASSIFIED, false),
            (EntryFlags::DECLARED, true),
            (EntryFlags::DECLARED | EntryFlags::DECLASSIFIED, true),
            (EntryFlags::ALL, true),
            (EntryFlags::LOCAL | EntryFlags::KEPT | EntryFlags::SEALED, false),
        ] {
            assert_eq!(EntryFlags(flags).is_secret(), secret, "{flags}");
        }
    }

    #[test]
    fn later_levels_win_and_keep_the_place() {
        let merged = |levels: &[&[(&str, u8)]]| -> Vec<(usize, usize, u8)> {
            let levels: Vec<Vec<ContextEntry>> = levels.iter().map(|level| entries(level)).collect();
            let merged = merge_levels(&levels, OnSealedKey::Throw).unwrap();
            merged.iter().map(|entry| (entry.level, entry.index, entry.flags.0)).collect()
        };
        assert_eq!(merged(&[]), []);
        assert_eq!(merged(&[&[], &[]]), []);
        assert_eq!(
            merged(&[&[("a", 0), ("b", 0)], &[("b", 0), ("c", 0)], &[("c", 0)]]),
            [(0, 0, 0), (1, 0, 0), (2, 0, 0)]
        );
        assert_eq!(merged(&[&[("b", 0), ("a", 0)], &[("b", 1)]]), [(1, 0, 1), (0, 1, 0)]);
        // What was declared stays; what was said of a name does not.
        let lasting = EntryFlags::DECLARED | EntryFlags::KEPT;
        let upper = lasting | EntryFlags::DECLASSIFIED | EntryFlags::LOCAL | EntryFlags::INBOUND;
        assert_eq!(merged(&[&[("a", upper)], &[("a", EntryFlags::NAMED)]]), [(1, 0, lasting | EntryFlags::NAMED)]);
    }

    #[test]
    fn sealed_keys_stay() {
        let upper = entries(&[("tenantId", EntryFlags::SEALED), ("x", 0)]);
        let levels = [upper, entries(&[("x", 0)]), entries(&[("tenantId", 0), ("y", 0)])];
        let error = merge_levels(&levels, OnSealedKey::Throw).unwrap_err();
        assert_eq!(error.code(), ErrorCode::PolicyViolation);
        assert_eq!(
            (&error.details()["reason"], &error.details()["key"]),
            (&"SealedKeyConflict".into(), &"tenantId".into())
        );
        let kept = merge_levels(&levels, OnSealedKey::KeepUpper).unwrap();
        assert_eq!(kept.iter().map(|entry| (entry.level, entry.index)).collect::<Vec<_>>(), [(0, 0), (1, 0), (2, 1)]);
        // A lower level may seal for those below it.
        let levels = [entries(&[("a", 0)]), entries(&[("a", EntryFlags::SEALED)]), entries(&[("a", 0)])];
        assert!(merge_levels(&levels[..2], OnSealedKey::Throw).unwrap()[0].flags.has(EntryFlags::SEALED));
        assert!(merge_levels(&levels, OnSealedKey::Throw).is_err());
    }

    #[test]
    fn policies_let_through_what_they_say() {
        let list = entries(&[
            ("authToken", EntryFlags::NAMED),
            ("tenantId", 0),
            ("traceId", 0),
            ("apiKey", EntryFlags::DECLARED),
        ]);
        let allow =
            |keys: &[&str], secrets: &[&str]| ForwardPolicy::Allow { keys: strings(keys), secrets: strings(secrets) };
        let deny = |keys: &[&str]| ForwardPolicy::Deny(strings(keys));
        let pass = |include_secrets| ForwardPolicy::PassThrough { include_secrets };
        for (policy, through) in [
            (ForwardPolicy::None, vec![]),
            (allow(&["tenantId", "absent"], &[]), vec![1]),
            (allow(&["TenantId"], &[]), vec![]),
            (allow(&["authToken", "tenantId"], &[]), vec![1]),
            (allow(&["authToken", "tenantId"], &["authToken"]), vec![0, 1]),
            (allow(&[], &["authToken"]), vec![0]),
            (deny(&[]), vec![1, 2]),
            (deny(&["tenantId"]), vec![2]),
            (pass(false), vec![1, 2]),
            (pass(true), vec![0, 1, 2, 3]),
            (ForwardPolicy::Compose(vec![]), vec![]),
            (ForwardPolicy::Compose(vec![pass(true), deny(&["traceId"])]), vec![1]),
            (ForwardPolicy::Compose(vec![pass(true), allow(&["apiKey"], &["apiKey"])]), vec![3]),
            (ForwardPolicy::Compose(vec![allow(&["apiKey"], &["apiKey"]), pass(false)]), vec![]),
        ] {
            assert_eq!(forwarded_entries(&list, &policy).unwrap(), through, "{policy:?}");
        }
    }

    #[test]
    fn what_cannot_leave_is_an_error_only_when_it_is_meant() {
        let named = |key: &str| ForwardPolicy::Allow { keys: strings(&[key]), secrets: vec![] };
        let all = ForwardPolicy::PassThrough { include_secrets: true };
        for (flags, by_name, by_all) in [
            (EntryFlags::LOCAL, None, None),
            (EntryFlags::LOCAL | EntryFlags::KEPT, None, Some(vec![])),
            (EntryFlags::KEPT, Some(vec![]), Some(vec![])),
            (EntryFlags::SEALED | EntryFlags::INBOUND, Some(vec![0]), Some(vec![0])),
        ] {
            let list = entries(&[("handle", flags)]);
            assert_eq!(forwarded_entries(&list, &named("handle")).ok(), by_name, "{flags}");
            assert_eq!(forwarded_entries(&list, &all).ok(), by_all, "{flags}");
            assert_eq!(forwarded_entries(&list, &named("other")).ok(), Some(vec![]), "{flags}");
        }
        let error = forwarded_entries(&entries(&[("handle", EntryFlags::LOCAL)]), &all).unwrap_err();
        assert_eq!(error.details()["reason"], "UnserialisableContextValue");
    }
}
