//! What keys and values say about being a credential, under the full rules.

use super::chars::{ALNUM_UNDER, DOT, is, rest, starts_ignoring_case, tick};
use super::tokens::is_generated;
use crate::openings::Openings;

/// Shortest value that counts as a credential, in characters.
pub(super) const MIN_VALUE: usize = 6;
/// Shortest quoted password; quotes make it unlikely that the value is prose.
const MIN_QUOTED_PASSWORD: usize = 4;
/// Shortest value that is taken for a credential because it looks generated, in bytes.
pub(super) const MIN_GENERATED: usize = 14;
/// Longest value that may be exempt as a placeholder.
///
/// The bound keeps the total time linear: a longer value is always masked and therefore never
/// looked at again.
const MAX_EXEMPT: usize = 128;
/// Longest key that is looked at.
pub(super) const MAX_KEY: usize = 64;

/// What a key says about its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyKind {
    /// A chosen secret, which may be short or numeric.
    Password,
    /// A password, or the working directory that shells call by the same name.
    Directory,
    /// A generated secret.
    Secret,
    /// A word with many other meanings, so plain numbers are left alone.
    Token,
    /// A key that often holds something else, so the value has to look generated.
    Strict,
    /// The name of a service, or a word that says even less.
    Generated,
}

/// How a key word has to sit in a key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WordFit {
    /// It ends the key, also inside a longer word such as `dbpassword`.
    Suffix,
    /// It is the last whole segment of the key.
    Segment,
}

/// Key words of the full rules, lower case and without separators.
const WORDS: [(&str, WordFit, KeyKind); 33] = [
    ("password", WordFit::Suffix, KeyKind::Password),
    ("passwd", WordFit::Suffix, KeyKind::Password),
    ("passphrase", WordFit::Suffix, KeyKind::Password),
    ("passcode", WordFit::Suffix, KeyKind::Password),
    ("pwd", WordFit::Suffix, KeyKind::Password),
    ("pass", WordFit::Segment, KeyKind::Password),
    ("pw", WordFit::Segment, KeyKind::Password),
    ("secret", WordFit::Suffix, KeyKind::Secret),
    ("apikey", WordFit::Suffix, KeyKind::Secret),
    ("accesskey", WordFit::Suffix, KeyKind::Secret),
    ("secretkey", WordFit::Suffix, KeyKind::Secret),
    ("privatekey", WordFit::Suffix, KeyKind::Secret),
    ("accountkey", WordFit::Suffix, KeyKind::Secret),
    ("encryptionkey", WordFit::Suffix, KeyKind::Secret),
    ("signingkey", WordFit::Suffix, KeyKind::Secret),
    ("authkey", WordFit::Suffix, KeyKind::Secret),
    ("token", WordFit::Suffix, KeyKind::Token),
    ("authorization", WordFit::Segment, KeyKind::Strict),
    ("credential", WordFit::Suffix, KeyKind::Strict),
    ("sig", WordFit::Segment, KeyKind::Strict),
    ("masterkey", WordFit::Suffix, KeyKind::Secret),
    ("adminkey", WordFit::Suffix, KeyKind::Secret),
    ("sharedkey", WordFit::Suffix, KeyKind::Secret),
    ("subscriptionkey", WordFit::Suffix, KeyKind::Secret),
    ("authsecret", WordFit::Suffix, KeyKind::Secret),
    ("credentials", WordFit::Suffix, KeyKind::Generated),
    ("creds", WordFit::Segment, KeyKind::Generated),
    ("auth", WordFit::Segment, KeyKind::Generated),
    ("pat", WordFit::Segment, KeyKind::Generated),
    ("appkey", WordFit::Suffix, KeyKind::Generated),
    ("licensekey", WordFit::Suffix, KeyKind::Generated),
    ("integrationkey", WordFit::Suffix, KeyKind::Generated),
    ("serverkey", WordFit::Suffix, KeyKind::Generated),
];

/// The last two letters of all key words and qualifiers, read backwards; most keys end differently.
const ENDINGS: Openings = {
    let mut endings = Openings::NONE;
    // "key" may follow a key word.
    let mut at = 0;
    endings = endings.with_letters(b'y', b'e');
    while at < WORDS.len() + QUALIFIERS.len() {
        let word = if at < WORDS.len() { WORDS[at].0 } else { QUALIFIERS[at - WORDS.len()] }.as_bytes();
        endings = endings.with_letters(word[word.len() - 1], word[word.len() - 2]);
        at += 1;
    }
    endings
};

/// What stands before `token` in names of pagination cursors and vocabulary entries.
///
/// They are no credentials, and masking them would stop an agent from fetching the next page.
#[rustfmt::skip]
const HARMLESS_TOKENS: [&str; 14] = [
    "page", "next", "pagination", "design", "continuation", "sync", "bos", "eos", "pad", "unk", "sep", "cls", "mask", "stop",
];

/// Segments that say which credential is meant, not what it is, and may follow the key word.
#[rustfmt::skip]
const QUALIFIERS: [&str; 14] = [
    "prod", "production", "dev", "development", "staging", "test", "live", "old", "new",
    "current", "value", "primary", "secondary", "confirmation",
];

/// Lower-case values that describe a credential and are none.
#[rustfmt::skip]
const DESCRIPTIONS: [&str; 32] = [
    "boolean", "cannot", "disabled", "enabled", "expired", "failed", "false", "forbidden",
    "hidden", "incorrect", "integer", "invalid", "masked", "missing", "mandatory", "none", "null",
    "number", "object", "optional", "password", "redacted", "required", "secret", "should",
    "string", "true", "undefined", "unknown", "unset", "unauthorized", "wrong",
];

/// Starts of values that refer to a secret kept elsewhere, in lower case.
#[rustfmt::skip]
const EXTERNAL_SECRETS: [&str; 17] = [
    "process.env", "os.environ", "os.getenv", "getenv(", "import.meta.env", "system.getenv",
    "env.", "env[", "env(", "secrets.", "secrets[", "var.", "op://", "vault:", "optional[",
    "option<", "secretstr",
];

/// A key in lower case and without separators.
struct KeyName {
    bytes: [u8; MAX_KEY],
    length: usize,
    /// One bit per byte that starts a segment.
    segments: u64,
}

impl KeyName {
    /// Normalises the end of a key, which is where the key word is.
    fn new(key: &[u8]) -> Self {
        let mut name = Self { bytes: [0; MAX_KEY], length: 0, segments: 0 };
        let mut previous = b' ';
        for &b in key.iter().skip(key.len().saturating_sub(MAX_KEY)) {
            if !is_separator(b)
                && let Some(slot) = name.bytes.get_mut(name.length)
            {
                *slot = b.to_ascii_lowercase();
                let camel = b.is_ascii_uppercase() && !previous.is_ascii_uppercase();
                let starts = camel || !previous.is_ascii_alphanumeric();
                name.segments |= u64::from(starts) << name.length;
                name.length += 1;
            }
            previous = b;
        }
        name
    }

    fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    fn fits(&self, word: &str, fit: WordFit) -> bool {
        // Most words end otherwise, and a comparison of all their bytes is a call.
        if self.bytes().last() != word.as_bytes().last() {
            return false;
        }
        let Some(head) = self.bytes().strip_suffix(word.as_bytes()) else {
            return false;
        };
        fit == WordFit::Suffix || self.segments & (1 << head.len()) != 0
    }
}

fn is_separator(b: u8) -> bool {
    matches!(b, b'-' | b'_' | b'.' | b' ')
}

/// Cuts trailing separators and numbers, as in `password_2`.
fn trim_key(key: &[u8]) -> &[u8] {
    let surplus = key.iter().rev().take_while(|b| b.is_ascii_digit() || is_separator(**b)).count();
    key.get(..key.len() - surplus).unwrap_or_default()
}

/// Returns what a key says about its value under the full rules.
pub(super) fn key_kind(key: &str) -> Option<KeyKind> {
    tick(key.len());
    let key = trim_key(key.as_bytes());
    let [.., before, last] = key else { return None };
    // A separator may stand between any two letters of a key word.
    if !is_separator(*before) && !ENDINGS.may_start(&[*last, *before]) {
        return None;
    }
    let mut name = KeyName::new(key);
    if let Some(word) = QUALIFIERS.iter().find(|word| name.fits(word, WordFit::Segment)) {
        name.length -= word.len();
        name.length = trim_key(name.bytes()).len();
    }
    if matches!(name.bytes(), b"pwd" | b"oldpwd") {
        return Some(KeyKind::Directory);
    }
    let found = WORDS.iter().find(|(word, fit, _)| name.fits(word, *fit)).map(|&(_, _, kind)| kind);
    let Some(kind) = found else {
        // As in "the password key".
        let head = name.bytes().strip_suffix(b"key").filter(|head| name.segments & (1 << head.len()) != 0)?.len();
        name.length = head;
        let known = WORDS.iter().any(|(word, fit, _)| name.fits(word, *fit));
        return known.then_some(KeyKind::Generated);
    };
    let head = name.bytes().strip_suffix(b"token").unwrap_or_default();
    let harmless = HARMLESS_TOKENS.iter().any(|word| head.ends_with(word.as_bytes()));
    (kind != KeyKind::Token || !harmless).then_some(kind)
}

/// Services whose keys have no form of their own, in lower case and without separators.
#[rustfmt::skip]
const SERVICES: [&str; 133] = [
    "alibaba", "asana", "bamboohr", "docusign", "adafruit", "airtable", "algolia", "artifactory", "assemblyai", "authress",
    "beamer", "bitbucket", "bittrex", "braintree", "branch", "bugsnag", "cloudflare", "cloudinary", "codacy", "codecov",
    "cohere", "coinbase", "confluence", "confluent", "contentful", "coveralls", "customerio", "datadog", "deepgram",
    "deepl", "deepseek", "discord", "dnsimple", "docker", "droneci", "drone", "dropbox", "dynatrace", "easypost",
    "elevenlabs", "etsy", "facebook", "fastly", "finicity", "finnhub", "flickr", "flutterwave", "freshbooks", "freshdesk",
    "giphy", "gitter", "gocardless", "godaddy", "grafana", "harness", "heroku", "hetzner", "honeycomb", "hubspot",
    "infura", "intercom", "jfrog", "jira", "atlassian", "klaviyo", "kraken", "kucoin", "launchdarkly", "linear", "linkedin",
    "linode", "lob", "looker", "mailchimp", "mailgun", "mapbox", "mattermost", "maxmind", "meraki", "messagebird", "mistral",
    "mixpanel", "mollie", "netlify", "newrelic", "nytimes", "okta", "opsgenie", "pagerduty", "paypal", "paystack",
    "pendo", "pinecone", "pipedrive", "plaid", "plivo", "postmark", "privateai", "pubnub", "pushover", "rapidapi",
    "rollbar", "segment", "sendbird", "sentry", "shippo", "shopify", "snyk", "sonar", "sourcegraph", "splunk", "spotify",
    "square", "squarespace", "statuspage", "sumo", "sumologic", "telegram", "travis", "travisci", "trello", "twilio", "twitch",
    "twitter", "typeform", "vercel", "vonage", "vultr", "webflow", "xendit", "yandex", "zendesk", "zoho",
];
/// What stands between the name of a service and the value of its key.
const OF_SERVICE: [&str; 11] =
    ["key", "value", "token", "secret", "api", "auth", "login", "oauth", "access", "sdk", "initialize"];

/// Positions of the services, by the last letter of their names.
static SERVICE_ORDER: ([u8; SERVICES.len()], [u8; 27]) = {
    let (mut order, mut firsts) = ([0; SERVICES.len()], [0; 27]);
    let (mut filled, mut letter) = (0, 0);
    while letter < 26 {
        let mut at = 0;
        while at < SERVICES.len() {
            let name = SERVICES[at].as_bytes();
            if name[name.len() - 1] == b'a' + letter as u8 {
                order[filled] = at as u8;
                filled += 1;
            }
            at += 1;
        }
        letter += 1;
        firsts[letter] = filled as u8;
    }
    (order, firsts)
};

impl KeyName {
    /// Reports whether the name of a service ends the key.
    fn ends_with_service(&self) -> bool {
        let letter = self.bytes().last().map_or(26, |last| usize::from(last.wrapping_sub(b'a')));
        let (order, firsts) = &SERVICE_ORDER;
        let (Some(&from), Some(&to)) = (firsts.get(letter), firsts.get(letter + 1)) else { return false };
        let order = order.get(usize::from(from)..usize::from(to)).unwrap_or_default();
        tick(order.len());
        order.iter().any(|&at| SERVICES.get(usize::from(at)).is_some_and(|name| self.fits(name, WordFit::Segment)))
    }
}

/// The last two letters of the names of services and of what follows them, read backwards.
const SERVICE_ENDINGS: Openings = {
    let mut endings = Openings::NONE;
    let mut at = 0;
    while at < SERVICES.len() {
        let word = SERVICES[at].as_bytes();
        endings = endings.with_letters(word[word.len() - 1], word[word.len() - 2]);
        if at < OF_SERVICE.len() {
            let word = OF_SERVICE[at].as_bytes();
            endings = endings.with_letters(word[word.len() - 1], word[word.len() - 2]);
        }
        at += 1;
    }
    endings
};

/// Reports whether a key may name a service, by its end.
pub(super) fn may_name_service(key: &str) -> bool {
    let [head @ .., before, last] = key.as_bytes() else { return false };
    // Identifiers are the most usual keys of generated values; only one service ends like them.
    if [*before, *last].eq_ignore_ascii_case(b"id") && !head.ends_with(b"a") && !head.ends_with(b"A") {
        return false;
    }
    is_separator(*before)
        || is_separator(*last)
        || last.is_ascii_digit()
        || SERVICE_ENDINGS.may_start(&[*last, *before])
}

/// Reports whether a key is the name of a service, or of its key.
pub(super) fn names_service(key: &str) -> bool {
    tick(key.len());
    let mut name = KeyName::new(trim_key(key.as_bytes()));
    for _ in 0..4 {
        if name.ends_with_service() {
            return true;
        }
        let Some(word) = OF_SERVICE.iter().find(|word| name.length > word.len() && name.fits(word, WordFit::Suffix))
        else {
            return false;
        };
        name.length -= word.len();
    }
    false
}

/// Reports whether a value assigned to a key of some kind has to be masked.
pub(super) fn is_secret(kind: KeyKind, value: &str, quoted: bool) -> bool {
    let least = if quoted && kind == KeyKind::Password { MIN_QUOTED_PASSWORD } else { MIN_VALUE };
    tick(value.len());
    let plain = |b: u8| b.is_ascii_digit() || matches!(b, b'.' | b',' | b'-' | b'+' | b'_' | b'%');
    let has_digit = || value.bytes().any(|b| b.is_ascii_digit());
    value.chars().take(least).count() == least
        && value.chars().any(char::is_alphanumeric)
        && !is_placeholder(value)
        && match kind {
            KeyKind::Password | KeyKind::Secret => true,
            KeyKind::Directory => !is_path(value),
            KeyKind::Token => !value.bytes().all(plain),
            KeyKind::Strict => value.len() >= MAX_KEY || value.len() >= 16 && has_digit(),
            KeyKind::Generated => value.len() >= MIN_GENERATED && !value.contains(' ') && is_generated(value),
        }
}

/// Reports whether a value is an absolute path.
fn is_path(value: &str) -> bool {
    value.starts_with('/') || value.starts_with("~/") || value.get(1..3) == Some(":\\")
}

/// Reports whether a value stands for a secret without being one.
pub(super) fn is_placeholder(value: &str) -> bool {
    if value.len() > MAX_EXEMPT {
        return false;
    }
    let value = value.trim();
    let framed = |open: &str, close: &str| value.starts_with(open) && value.ends_with(close);
    let name = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
    [("<", ">"), ("${", "}"), ("$(", ")"), ("{{", "}}")].iter().any(|(open, close)| framed(open, close))
        || framed("%", "%")
        || framed("[", "]") && value.bytes().all(|b| name(b) || matches!(b, b'[' | b']' | b'-' | b' '))
        || value.strip_prefix('$').is_some_and(|rest| rest.bytes().all(name))
        || EXTERNAL_SECRETS.iter().any(|start| starts_ignoring_case(value, 0, start))
        || DESCRIPTIONS.iter().any(|word| word.eq_ignore_ascii_case(value.trim_end_matches('.')))
        || starts_ignoring_case(value, 0, "your")
            && !value.bytes().any(|b| b.is_ascii_digit())
            && value.contains(['_', '-'])
        || value.chars().all(|c| matches!(c, '*' | 'x' | 'X' | '.' | '-' | '_' | '#' | '•' | '…'))
}

/// Reports whether a value without quotes is a call or an attribute, such as `self.api_token`.
pub(super) fn is_code(value: &str) -> bool {
    let path = value.bytes().take(MAX_EXEMPT).take_while(|&b| is(b, ALNUM_UNDER | DOT)).count();
    let named = path > 0 && !value.starts_with(|c: char| c.is_ascii_digit());
    let attribute = path == value.len() && value.contains('.') && key_kind(value).is_some();
    named && value.len() <= MAX_EXEMPT && (rest(value, path).starts_with('(') || attribute)
}
