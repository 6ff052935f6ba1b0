//! Rules of the bag that tools get beside their input: which keys there may be, which of them are secret, what a lower
//! level may change, and what a policy lets out.
//!
//! Only keys and flags come here; the values stay with the caller until a policy has let them through.

use contextweaver_base::order::SortedMap;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_text::unicode::quote;

/// Longest key, in bytes of UTF-8.
pub const MAX_KEY_BYTES: usize = 256;

/// What is known of an entry: a set of the constants below.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(pub u8);

impl Flags {
    /// The key is called like a secret.
    pub const NAMED: u8 = 1;
    /// The entry was declared a secret.
    pub const DECLARED: u8 = 1 << 1;
    /// The name of the key means nothing.
    pub const DECLASSIFIED: u8 = 1 << 2;
    /// The entry may not leave, whatever a policy says.
    pub const KEPT: u8 = 1 << 3;
    /// No lower level may change the entry.
    pub const SEALED: u8 = 1 << 4;
    /// The value is none of JSON.
    pub const LOCAL: u8 = 1 << 5;
    /// The value came from a client over the protocol.
    pub const INBOUND: u8 = 1 << 6;
    /// All of them.
    pub const ALL: u8 = (1 << 7) - 1;
    /// What a later level cannot take away from a key.
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

/// A key and what is known of its entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// What is known.
    pub flags: Flags,
}

/// Makes the error of a rule that is told by its name rather than by its code.
pub fn refused(code: ErrorCode, reason: &str, message: String, key: &str) -> Error {
    Error::new(code, message).detail("reason", reason).detail("key", key)
}

/// Checks that a text can be a key: not empty, at most [`MAX_KEY_BYTES`].
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

/// What happens when a lower level sets a sealed key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnConflict {
    /// The merge fails.
    #[default]
    Throw,
    /// The value of the upper level stays.
    KeepUpper,
}

impl OnConflict {
    /// Reads the name of a choice.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "throw" => Ok(Self::Throw),
            "keep-upper" => Ok(Self::KeepUpper),
            other => {
                Err(Error::new(ErrorCode::InvalidInput, format!("{} is no way to settle a conflict", quote(other)))
                    .hint("one of throw, keep-upper"))
            }
        }
    }
}

/// An entry of merged levels: which one its value comes from, and what is known of it now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Merged {
    /// The level.
    pub level: usize,
    /// The place of the entry in that level.
    pub place: usize,
    /// What is known.
    pub flags: Flags,
}

/// Merges levels, the uppermost first: later values win and keep the place of the first.
///
/// A declared secret stays one, what may not leave may not leave under another value either, and what is sealed stays
/// so. That a name means nothing was said of one value, and does not hold for the next.
pub fn merge(levels: &[Vec<Entry>], on_conflict: OnConflict) -> Result<Vec<Merged>> {
    let mut found: Vec<Merged> = Vec::new();
    let mut places: SortedMap<&str, usize> = SortedMap::new();
    for (level, entries) in levels.iter().enumerate() {
        for (place, entry) in entries.iter().enumerate() {
            let Some(at) = places.get(entry.key.as_str()).copied() else {
                places.insert(&entry.key, found.len());
                found.push(Merged { level, place, flags: entry.flags });
                continue;
            };
            let upper = &mut found[at];
            if upper.flags.has(Flags::SEALED) && upper.level < level {
                match on_conflict {
                    OnConflict::KeepUpper => continue,
                    OnConflict::Throw => return Err(sealed(&entry.key)),
                }
            }
            let lasting = upper.flags.0 & Flags::LASTING;
            *upper = Merged { level, place, flags: Flags(entry.flags.0 | lasting) };
        }
    }
    Ok(found)
}

fn sealed(key: &str) -> Error {
    let message = format!("the key {} is sealed by an upper level", quote(key));
    refused(ErrorCode::PolicyViolation, "SealedKeyConflict", message, key)
}

/// What may leave to another program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Policy {
    /// Nothing.
    None,
    /// The named keys; of the secrets those that are named a second time.
    Allow {
        /// The keys.
        keys: Vec<String>,
        /// The secrets.
        secrets: Vec<String>,
    },
    /// All but the named keys and secrets.
    Deny(Vec<String>),
    /// All but secrets, or really all.
    PassThrough {
        /// Whether secrets leave, too.
        include_secrets: bool,
    },
    /// What all of these let through.
    Compose(Vec<Policy>),
}

/// How a policy speaks of an entry; the more explicit the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Word {
    No,
    /// Only because it is no secret and not forbidden.
    Any,
    /// By its key.
    Named,
}

impl Policy {
    fn word(&self, entry: &Entry) -> Word {
        let is_secret = entry.flags.is_secret();
        let has = |keys: &[String]| keys.contains(&entry.key);
        match self {
            Self::Allow { keys, secrets } if has(secrets) || has(keys) && !is_secret => Word::Named,
            Self::Deny(keys) if !is_secret && !has(keys) => Word::Any,
            Self::PassThrough { include_secrets } if !is_secret || *include_secrets => Word::Any,
            Self::None | Self::Allow { .. } | Self::Deny(_) | Self::PassThrough { .. } => Word::No,
            Self::Compose(parts) => parts.iter().map(|part| part.word(entry)).min().unwrap_or(Word::No),
        }
    }
}

/// Says which entries a policy lets through, by place.
///
/// What may not leave stays, however it is named; so do functions and the like, unless the policy means just them, which
/// is a mistake that must be told.
pub fn gate(entries: &[Entry], policy: &Policy) -> Result<Vec<usize>> {
    let mut through = Vec::new();
    for (place, entry) in entries.iter().enumerate() {
        let word = policy.word(entry);
        let is_local = entry.flags.has(Flags::LOCAL);
        let is_kept = entry.flags.has(Flags::KEPT);
        if word == Word::No || is_kept && !(is_local && word == Word::Named) {
            continue;
        }
        if is_local {
            let message = format!("the value of {} cannot leave this program: it is not JSON", quote(&entry.key));
            return Err(refused(ErrorCode::InvalidInput, "UnserialisableContextValue", message, &entry.key)
                .hint("leave the key out of the policy"));
        }
        through.push(place);
    }
    Ok(through)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(list: &[(&str, u8)]) -> Vec<Entry> {
        list.iter().map(|(key, flags)| Entry { key: (*key).to_owned(), flags: Flags(*flags) }).collect()
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
            (Flags::NAMED, true),
            (Flags::DECLASSIFIED, false),
            (Flags::NAMED | Flags::DECLASSIFIED, false),
            (Flags::DECLARED, true),
            (Flags::DECLARED | Flags::DECLASSIFIED, true),
            (Flags::ALL, true),
            (Flags::LOCAL | Flags::KEPT | Flags::SEALED, false),
        ] {
            assert_eq!(Flags(flags).is_secret(), secret, "{flags}");
        }
    }

    #[test]
    fn later_levels_win_and_keep_the_place() {
        let merged = |levels: &[&[(&str, u8)]]| -> Vec<(usize, usize, u8)> {
            let levels: Vec<Vec<Entry>> = levels.iter().map(|level| entries(level)).collect();
            let merged = merge(&levels, OnConflict::Throw).unwrap();
            merged.iter().map(|entry| (entry.level, entry.place, entry.flags.0)).collect()
        };
        assert_eq!(merged(&[]), []);
        assert_eq!(merged(&[&[], &[]]), []);
        assert_eq!(
            merged(&[&[("a", 0), ("b", 0)], &[("b", 0), ("c", 0)], &[("c", 0)]]),
            [(0, 0, 0), (1, 0, 0), (2, 0, 0)]
        );
        assert_eq!(merged(&[&[("b", 0), ("a", 0)], &[("b", 1)]]), [(1, 0, 1), (0, 1, 0)]);
        // What was declared stays; what was said of a name does not.
        let lasting = Flags::DECLARED | Flags::KEPT;
        let upper = lasting | Flags::DECLASSIFIED | Flags::LOCAL | Flags::INBOUND;
        assert_eq!(merged(&[&[("a", upper)], &[("a", Flags::NAMED)]]), [(1, 0, lasting | Flags::NAMED)]);
    }

    #[test]
    fn sealed_keys_stay() {
        let upper = entries(&[("tenantId", Flags::SEALED), ("x", 0)]);
        let levels = [upper, entries(&[("x", 0)]), entries(&[("tenantId", 0), ("y", 0)])];
        let error = merge(&levels, OnConflict::Throw).unwrap_err();
        assert_eq!(error.code(), ErrorCode::PolicyViolation);
        assert_eq!(
            (&error.details()["reason"], &error.details()["key"]),
            (&"SealedKeyConflict".into(), &"tenantId".into())
        );
        let kept = merge(&levels, OnConflict::KeepUpper).unwrap();
        assert_eq!(kept.iter().map(|entry| (entry.level, entry.place)).collect::<Vec<_>>(), [(0, 0), (1, 0), (2, 1)]);
        // A lower level may seal for those below it.
        let levels = [entries(&[("a", 0)]), entries(&[("a", Flags::SEALED)]), entries(&[("a", 0)])];
        assert!(merge(&levels[..2], OnConflict::Throw).unwrap()[0].flags.has(Flags::SEALED));
        assert!(merge(&levels, OnConflict::Throw).is_err());
    }

    #[test]
    fn policies_let_through_what_they_say() {
        let list =
            entries(&[("authToken", Flags::NAMED), ("tenantId", 0), ("traceId", 0), ("apiKey", Flags::DECLARED)]);
        let allow = |keys: &[&str], secrets: &[&str]| Policy::Allow { keys: strings(keys), secrets: strings(secrets) };
        let deny = |keys: &[&str]| Policy::Deny(strings(keys));
        let pass = |include_secrets| Policy::PassThrough { include_secrets };
        for (policy, through) in [
            (Policy::None, vec![]),
            (allow(&["tenantId", "absent"], &[]), vec![1]),
            (allow(&["TenantId"], &[]), vec![]),
            (allow(&["authToken", "tenantId"], &[]), vec![1]),
            (allow(&["authToken", "tenantId"], &["authToken"]), vec![0, 1]),
            (allow(&[], &["authToken"]), vec![0]),
            (deny(&[]), vec![1, 2]),
            (deny(&["tenantId"]), vec![2]),
            (pass(false), vec![1, 2]),
            (pass(true), vec![0, 1, 2, 3]),
            (Policy::Compose(vec![]), vec![]),
            (Policy::Compose(vec![pass(true), deny(&["traceId"])]), vec![1]),
            (Policy::Compose(vec![pass(true), allow(&["apiKey"], &["apiKey"])]), vec![3]),
            (Policy::Compose(vec![allow(&["apiKey"], &["apiKey"]), pass(false)]), vec![]),
        ] {
            assert_eq!(gate(&list, &policy).unwrap(), through, "{policy:?}");
        }
    }

    #[test]
    fn what_cannot_leave_is_an_error_only_when_it_is_meant() {
        let named = |key: &str| Policy::Allow { keys: strings(&[key]), secrets: vec![] };
        let all = Policy::PassThrough { include_secrets: true };
        for (flags, by_name, by_all) in [
            (Flags::LOCAL, None, None),
            (Flags::LOCAL | Flags::KEPT, None, Some(vec![])),
            (Flags::KEPT, Some(vec![]), Some(vec![])),
            (Flags::SEALED | Flags::INBOUND, Some(vec![0]), Some(vec![0])),
        ] {
            let list = entries(&[("handle", flags)]);
            assert_eq!(gate(&list, &named("handle")).ok(), by_name, "{flags}");
            assert_eq!(gate(&list, &all).ok(), by_all, "{flags}");
            assert_eq!(gate(&list, &named("other")).ok(), Some(vec![]), "{flags}");
        }
        let error = gate(&entries(&[("handle", Flags::LOCAL)]), &all).unwrap_err();
        assert_eq!(error.details()["reason"], "UnserialisableContextValue");
    }
}
