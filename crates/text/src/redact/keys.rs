//! What keys and values say about being a credential.

use super::chars::{ALNUM, ALNUM_UNDER, DIGIT, DOT, LETTER, is, part, rest, starts_ignoring_case, tick};

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
    /// Any key of a map of secrets.
    Any,
}

/// How a key word has to sit in a key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WordFit {
    /// It ends the key, also inside a longer word such as `dbpassword`.
    Suffix,
    /// It is the last whole segment of the key.
    Segment,
}

/// Key words, lower case and without separators.
const WORDS: [(&str, WordFit, KeyKind); 48] = [
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
    ("storepass", WordFit::Suffix, KeyKind::Password),
    ("keypass", WordFit::Suffix, KeyKind::Password),
    ("jsessionid", WordFit::Suffix, KeyKind::Generated),
    ("phpsessid", WordFit::Suffix, KeyKind::Generated),
    ("requirepass", WordFit::Suffix, KeyKind::Password),
    ("amzsignature", WordFit::Suffix, KeyKind::Generated),
    // Rails.
    ("secretkeybase", WordFit::Suffix, KeyKind::Secret),
    // Of a kubeconfig.
    ("clientkeydata", WordFit::Suffix, KeyKind::Secret),
    // Of wpa_supplicant, NetworkManager and WireGuard.
    ("psk", WordFit::Segment, KeyKind::Password),
    ("presharedkey", WordFit::Suffix, KeyKind::Secret),
    // Of Vault.
    ("unsealkey", WordFit::Suffix, KeyKind::Generated),
    ("unsealkeysb", WordFit::Suffix, KeyKind::Generated),
    ("unsealkeyshex", WordFit::Suffix, KeyKind::Generated),
    ("recoverykey", WordFit::Suffix, KeyKind::Generated),
    ("googsignature", WordFit::Suffix, KeyKind::Generated),
];

/// What stands before `token` in names of pagination cursors and vocabulary entries.
///
/// They are no credentials, and masking them would stop an agent from fetching the next page.
#[rustfmt::skip]
const HARMLESS_TOKENS: [&str; 25] = [
    "input", "output", "version", "page", "next", "pagination", "design", "continuation", "sync", "bos", "eos", "pad", "unk", "sep", "cls", "mask", "stop",
    "resume", "scroll", "starting", "delta", "skip", "progress", "bookmark", "cursor",
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
        let Some(head) = self.bytes().strip_suffix(word.as_bytes()) else {
            return false;
        };
        fit == WordFit::Suffix || self.segments & (1 << head.len()) != 0
    }

    /// Returns the number of the first word of a list that ends the key.
    fn ending(&self, list: usize) -> Option<usize> {
        let letter = usize::from(self.bytes().last()?.wrapping_sub(b'a'));
        let (order, firsts) = (&BY_LAST.0, BY_LAST.1.get(list)?);
        let numbers = order.get(usize::from(*firsts.get(letter)?)..usize::from(*firsts.get(letter + 1)?))?;
        tick(numbers.len());
        let second = self.length.checked_sub(2).and_then(|at| self.bytes.get(at));
        let fits = |number: &usize| {
            let (word, fit) = end(*number);
            // Most words end otherwise, and a comparison of all their bytes is a call.
            word.as_bytes().iter().rev().nth(1) == second && self.fits(word, fit)
        };
        numbers.iter().map(|&number| usize::from(number)).find(fits)
    }

    fn kind(&self) -> Option<KeyKind> {
        self.ending(OF_CREDENTIALS).map(|word| WORDS[word].2)
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

/// Returns what a key says about its value.
pub(super) fn key_kind(key: &str) -> Option<KeyKind> {
    tick(key.len());
    if !may_tell(key.as_bytes()) {
        return None;
    }
    let mut name = KeyName::new(trim_key(key.as_bytes()));
    if let Some(qualifier) = name.ending(OF_QUALIFIERS) {
        name.length -= end(qualifier).0.len();
        name.length = trim_key(name.bytes()).len();
    }
    if matches!(name.bytes(), b"pwd" | b"oldpwd") {
        return Some(KeyKind::Directory);
    }
    let Some(kind) = name.kind() else {
        // As in "the password key".
        let head = name.bytes().strip_suffix(b"key").filter(|head| name.segments & (1 << head.len()) != 0)?.len();
        name.length = head;
        return name.kind().map(|_| KeyKind::Generated);
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

/// All words that may end a key: those of credentials, qualifiers, services, and what follows a service.
const ENDS: usize = OF_SERVICES_FROM + OF_SERVICE.len();
const QUALIFIERS_FROM: usize = WORDS.len();
const SERVICES_FROM: usize = QUALIFIERS_FROM + QUALIFIERS.len();
const OF_SERVICES_FROM: usize = SERVICES_FROM + SERVICES.len();

const fn end(number: usize) -> (&'static str, WordFit) {
    if number < QUALIFIERS_FROM {
        (WORDS[number].0, WORDS[number].1)
    } else if number < SERVICES_FROM {
        (QUALIFIERS[number - QUALIFIERS_FROM], WordFit::Segment)
    } else if number < OF_SERVICES_FROM {
        (SERVICES[number - SERVICES_FROM], WordFit::Segment)
    } else {
        (OF_SERVICE[number - OF_SERVICES_FROM], WordFit::Suffix)
    }
}

/// The lists of words that may end a key, by the number of the first word of each.
const LISTS: [usize; 5] = [0, QUALIFIERS_FROM, SERVICES_FROM, OF_SERVICES_FROM, ENDS];
const OF_CREDENTIALS: usize = 0;
const OF_QUALIFIERS: usize = 1;
const OF_SERVICES: usize = 2;
const BEHIND_SERVICES: usize = 3;

/// Numbers of the words of each list by their last letters, and where those of each letter start.
static BY_LAST: ([u8; ENDS], [[u8; 27]; 4]) = {
    let (mut order, mut firsts) = ([0; ENDS], [[0; 27]; 4]);
    let (mut filled, mut list) = (0, 0);
    while list < 4 {
        firsts[list][0] = filled as u8;
        let mut letter = 0;
        while letter < 26 {
            let mut number = LISTS[list];
            while number < LISTS[list + 1] {
                let word = end(number).0.as_bytes();
                if word[word.len() - 1] == b'a' + letter as u8 {
                    order[filled] = number as u8;
                    filled += 1;
                }
                number += 1;
            }
            letter += 1;
            firsts[list][letter] = filled as u8;
        }
        list += 1;
    }
    assert!(filled == ENDS && ENDS <= 256);
    (order, firsts)
};

/// A bit for each hash of the last three letters of a word.
static TAILS: [u64; 64] = {
    let mut tails = [0; 64];
    let mut number = 0;
    while number < ENDS + OTHER_ENDS.len() {
        let word = if number < ENDS { end(number).0 } else { OTHER_ENDS[number - ENDS] }.as_bytes();
        if let [.., third, second, last] = word {
            let bit = tail_bit(*third, *second, *last);
            tails[bit / 64] |= 1 << (bit % 64);
        } else {
            assert!(matches!(word, b"pw"));
        }
        number += 1;
    }
    tails
};

/// Endings of keys that have a meaning of their own.
const OTHER_ENDS: [&str; 5] = ["key", "value", "cookie", "kind", "data"];

const fn tail_bit(third: u8, second: u8, last: u8) -> usize {
    let tail = third as u32 | (second as u32) << 8 | (last as u32) << 16;
    (tail.wrapping_mul(0x9e37_79b1) >> 20) as usize
}

/// Reports whether a key may say something about its value, by the last three letters of it. Most keys end otherwise.
pub(super) fn may_tell(key: &[u8]) -> bool {
    let mut letters = key.iter().rev().take(MAX_KEY).skip_while(|b| b.is_ascii_digit() || is_separator(**b));
    let mut next = || letters.find(|b| !is_separator(**b)).filter(|b| is(**b, ALNUM)).map(|b| b | 0x20);
    let (Some(last), Some(second)) = (next(), next()) else { return false };
    if [second, last] == *b"pw" {
        return true;
    }
    let Some(third) = next() else { return false };
    let bit = tail_bit(third, second, last);
    TAILS[bit / 64] >> (bit % 64) & 1 == 1
}

/// Reports whether a key is the name of a service, or of its key.
pub(super) fn names_service(key: &str) -> bool {
    tick(key.len());
    let mut name = KeyName::new(trim_key(key.as_bytes()));
    for _ in 0..4 {
        if name.ending(OF_SERVICES).is_some() {
            return true;
        }
        let Some(word) = name.ending(BEHIND_SERVICES) else { return false };
        name.length -= end(word).0.len();
        if name.length == 0 {
            return false;
        }
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
            KeyKind::Password | KeyKind::Secret | KeyKind::Any => true,
            KeyKind::Directory => !is_path(value),
            KeyKind::Token => !value.bytes().all(plain),
            KeyKind::Strict => value.len() >= MAX_KEY || value.len() >= 16 && has_digit(),
            KeyKind::Generated => value.len() >= MIN_GENERATED && !value.contains(' ') && is_generated(value),
        }
}

/// Reports whether a value is an absolute path.
pub(super) fn is_path(value: &str) -> bool {
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
        // A format, or a name in a template.
        || framed("{", "}") && value.bytes().all(|b| b.is_ascii_lowercase() || matches!(b, b'{' | b'}' | b'_' | b'.'))
        || value.contains("%s") && value.split("%s").all(|part| !part.contains(char::is_alphanumeric))
        // The name of a variable.
        || value.contains('_')
            && value.bytes().all(|b| b.is_ascii_uppercase() || b == b'_')
            && key_kind(value).is_some()
        || value.chars().all(|c| matches!(c, '*' | 'x' | 'X' | '.' | '-' | '_' | '#' | '•' | '…'))
}

/// Reports whether a value without quotes is a call or an attribute, such as `self.api_token`.
pub(super) fn is_code(value: &str) -> bool {
    let path = value.bytes().take(MAX_EXEMPT).take_while(|&b| is(b, ALNUM_UNDER | DOT)).count();
    let named = path > 0 && !value.starts_with(|c: char| c.is_ascii_digit());
    let tail = rest(value, path);
    // What ends a call, a list or a block.
    let ends = tail.bytes().all(|b| matches!(b, b')' | b']' | b'}' | b',' | b';' | b':'));
    let name = part(value, 0, path);
    let of = |test: fn(&u8) -> bool| name.bytes().any(|b| test(&b));
    let written = !of(u8::is_ascii_digit) && (of(u8::is_ascii_uppercase) || name.contains('_'));
    let attribute = ends && name.contains('.') && (written || key_kind(name).is_some());
    let argument = ends && tail.starts_with([')', ',']) && name.contains('_') && key_kind(name).is_some() && written;
    let inside = tail.trim_end_matches([',', ';', ':', ')']);
    let item = inside == "[" || inside.starts_with('[') && inside.ends_with(']') && !inside.contains('-');
    named && value.len() <= MAX_EXEMPT && (tail.starts_with('(') || item || attribute || argument)
}

/// Reports whether a value has a long part of both letters and digits, as generated ones have and words have not.
pub(super) fn is_generated(value: &str) -> bool {
    tick(value.len());
    let of = |part: &str, class| part.bytes().any(|b| is(b, class));
    value.split(|c: char| !c.is_ascii_alphanumeric()).any(|part| part.len() >= 8 && of(part, DIGIT) && of(part, LETTER))
}

/// Reports whether a cookie holds a session, by its name.
pub(super) fn holds_session(name: &str) -> bool {
    const NAMES: [&str; 10] = ["sess", "sid", "auth", "token", "jwt", "csrf", "xsrf", "login", "remember", "__host-"];
    tick(name.len());
    name.len() <= MAX_KEY
        && ((0..name.len()).any(|from| NAMES.iter().any(|word| starts_ignoring_case(name, from, word)))
            || name.eq_ignore_ascii_case("id"))
}
