//! Lines of files and protocols that have a form of their own: accounts with their passwords, cookies, keys.

use super::chars::{
    BASE64, DIGIT, DOTTED, HEX, TOKEN68, byte, is, part, rest, run, run_back, skip_space, starts_ignoring_case, tick,
};
use super::context::decoded_has;
use super::keys::{KeyKind, MIN_GENERATED, holds_session, is_generated, is_placeholder, is_secret};
use super::scanner::Scanner;

/// How hashes of passwords begin that stand behind the name of a user. Apache, "Password Formats"; `crypt(5)`; RFC 2307.
#[rustfmt::skip]
const HASHES: [&str; 14] = [
    "$apr1$", "$2y$", "$2b$", "$2a$", "$1$", "$5$", "$6$", "$7$", "$y$", "$argon2", "$scrypt$", "{SHA}", "{SSHA}", "{SSHA512}",
];
/// Shortest hash of a password, in bytes.
const MIN_HASH: usize = 16;
/// Longest part of a line that is looked at, in bytes.
const MAX_PART: usize = 256;
/// Shortest signature, in bytes.
const MIN_SIGNATURE: usize = 40;
/// How far behind its scheme a signature may stand, in bytes.
const MAX_HEADER: usize = 2048;

impl Scanner<'_> {
    fn found(&self, start: usize, end: usize, floor: usize) -> Option<(usize, usize)> {
        let value = part(self.text, start, end);
        (start >= floor && !value.is_empty() && !is_placeholder(value) && !self.is_mask(start, end))
            .then_some((start, end))
    }

    /// Finds the hash behind the name of a user, as in `bob:$apr1$salt$hash`; the colon is at an offset.
    pub(super) fn hash_at(&self, at: usize, floor: usize) -> Option<(usize, usize)> {
        let tail = rest(self.text, at + 1);
        if !tail.starts_with(['$', '{']) || !HASHES.iter().any(|sign| tail.starts_with(sign)) {
            return None;
        }
        let ends = |b: u8| b.is_ascii_whitespace() || matches!(b, b':' | b'"' | b'\'' | b',' | b'\\');
        let length = tail.bytes().take(MAX_PART).position(ends).unwrap_or(tail.len().min(MAX_PART));
        tick(length);
        if length < MIN_HASH { None } else { self.found(at + 1, at + 1 + length, floor) }
    }

    /// Finds the password of a line of `.pgpass`: host, port, database, user and password, with colons between.
    pub(super) fn pgpass_at(&self, start: usize, floor: usize) -> Option<(usize, usize)> {
        let bytes = self.text.as_bytes();
        let star = |at| bytes.get(at) == Some(&b'*');
        let ends = |at| bytes.get(at) == Some(&b':');
        let part_end = |at: usize, class| if star(at) { at + 1 } else { run(self.text, at, class, 64) };
        let host = part_end(start, DOTTED);
        let port = if ends(host) { part_end(host + 1, DIGIT) } else { return None };
        let long = star(host + 1) || port >= host + 5;
        if host == start || !long || !ends(port) {
            return None;
        }
        let base = part_end(port + 1, DOTTED);
        let named = |at: usize| star(at) || bytes.get(at).is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_');
        let user = if ends(base) && named(port + 1) { part_end(base + 1, DOTTED) } else { return None };
        if !ends(user) || !named(base + 1) {
            return None;
        }
        let tail = rest(self.text, user + 1);
        let length = tail.bytes().take(MAX_PART).take_while(|b| !b.is_ascii_whitespace()).count();
        tick(length);
        let last = matches!(tail.as_bytes().get(length), None | Some(b'\n' | b'\r'));
        let secret = is_secret(KeyKind::Password, part(tail, 0, length), false);
        if last && secret { self.found(user + 1, user + 1 + length, floor) } else { None }
    }

    /// Finds the value of a cookie in a line of a file of cookies, as `curl` writes them, by the second or fourth field.
    pub(super) fn cookie_line_at(&self, at: usize, floor: usize) -> Option<(usize, usize)> {
        // Behind the domain, at the start of the line.
        let domain = at.checked_sub(1).filter(|&tab| byte(self.text, tab) == Some(b'\t'))?;
        let start = run_back(self.text, domain, DOTTED, MAX_PART);
        let before = start.checked_sub(1).and_then(|at| byte(self.text, at));
        // `curl` puts `#HttpOnly_` before some.
        let host = part(self.text, start, domain);
        if !(host.contains('.') || host == "localhost") || !matches!(before, None | Some(b'\n' | b'#')) {
            return None;
        }
        let field = |from: usize| {
            let tail = rest(self.text, from);
            let length = tail.bytes().take(4096).position(|b| matches!(b, b'\t' | b'\n' | b'\r')).unwrap_or(tail.len());
            tick(length);
            (from, from + length)
        };
        let (_, include) = field(at);
        let (_, path) = field(include + 1);
        let (_, secure) = field(path + 1);
        let (from, expires) = field(secure + 1);
        let (name_from, name) = field(expires + 1);
        let (start, end) = field(name + 1);
        let dated = expires > from && part(self.text, from, expires).bytes().all(|b| b.is_ascii_digit());
        let known = holds_session(part(self.text, name_from, name));
        if dated && known && end >= start + 8 { self.found(start, end, floor) } else { None }
    }

    /// Finds the password in `user/password@database`, which starts at an offset or behind options. Without a database only
    /// one with digits is told from a path.
    pub(super) fn login_at(&self, at: usize, floor: usize) -> Option<(usize, usize)> {
        let mut at = skip_space(self.text, at);
        for _ in 0..4 {
            if byte(self.text, at) != Some(b'-') {
                break;
            }
            at = skip_space(self.text, run(self.text, at, DOTTED, 64));
        }
        at += usize::from(matches!(byte(self.text, at), Some(b'"' | b'\'')));
        let slash = run(self.text, at, DOTTED, 64);
        if slash == at || byte(self.text, slash) != Some(b'/') {
            return None;
        }
        let tail = rest(self.text, slash + 1);
        let length = tail.bytes().take(64).position(|b| b == b'@' || b.is_ascii_whitespace());
        let length = length.or_else(|| (tail.len() < 64).then_some(tail.len()))?;
        tick(length);
        let has_database = tail.as_bytes().get(length) == Some(&b'@');
        let quoted = part(tail, 0, length).find(['"', '\'', '`']).filter(|_| !has_database);
        let length = quoted.unwrap_or(length);
        let value = part(tail, 0, length);
        let bare = value.bytes().any(|b| b.is_ascii_digit()) && !value.contains(['/', '.']);
        let secret = (has_database || bare) && length >= 4 && is_secret(KeyKind::Password, value, true);
        if secret { self.found(slash + 1, slash + 1 + length, floor) } else { None }
    }

    /// Finds the response of a client that logs in to a mail server, of which the word before ends at an offset.
    pub(super) fn sasl_at(&self, at: usize, floor: usize) -> Option<(usize, usize)> {
        let end = run(self.text, at, BASE64, MAX_PART);
        if decoded_has(part(self.text, at, end), 0) { self.found(at, end, floor) } else { None }
    }

    /// Finds the answer to the question for a password of a mail server: the base64 of the next line.
    pub(super) fn prompted_at(&self, at: usize, floor: usize) -> Option<(usize, usize)> {
        let mut start = skip_space(self.text, at);
        let signs = ["c: ", "-> ", "> ", "<< ", ">> "];
        let sign = signs.iter().find(|sign| starts_ignoring_case(self.text, start, sign));
        start += sign.map_or(0, |sign| sign.len());
        let end = run(self.text, start, BASE64, MAX_PART);
        let alone = matches!(byte(self.text, end), None | Some(b'\n' | b'\r' | b'"' | b'\\'));
        let next = part(self.text, at, start).contains('\n');
        if next && alone && end >= start + 8 { self.found(start, end, floor) } else { None }
    }

    /// Finds the key in `Unseal Key 1: x`, of which the words end at an offset.
    pub(super) fn numbered_key_at(&self, at: usize, floor: usize) -> Option<(usize, usize)> {
        let colon = run(self.text, at, DIGIT, 4);
        if byte(self.text, colon) != Some(b':') {
            return None;
        }
        let start = skip_space(self.text, colon + 1);
        let end = run(self.text, start, TOKEN68, MAX_PART);
        let long = end >= start + MIN_GENERATED && is_generated(part(self.text, start, end));
        if long { self.found(start, end, floor) } else { None }
    }

    /// Finds the signature of a request behind its scheme, as in `AWS4-HMAC-SHA256 Credential=x, Signature=y`.
    pub(super) fn request_signature(&mut self, at: usize) {
        if at < self.read_ahead {
            return;
        }
        let tail = rest(self.text, at);
        let line = tail.bytes().take(MAX_HEADER).position(|b| b == b'\n').unwrap_or(tail.len().min(MAX_HEADER));
        tick(line);
        self.read_ahead = at + line;
        let Some(place) = part(tail, 0, line).find("Signature=") else { return };
        let start = at + place + "Signature=".len();
        let end = run(self.text, start, HEX, MAX_PART);
        let last = self.ahead.back().map_or(0, |&(_, end)| end);
        if end >= start + MIN_SIGNATURE && start >= last {
            self.ahead.push_back((start, end));
        }
    }
}

/// Reports whether a value without quotes says which type a field of a program has, rather than what it holds: `String!`,
/// `ContextKey<string>`, or the name of the field as that of a type.
pub(super) fn is_type(key: &str, kind: KeyKind, value: &str) -> bool {
    #[rustfmt::skip]
    const TYPES: [&str; 20] = [
        "String", "Boolean", "Integer", "Number", "Float", "Double", "Object", "Buffer", "Bytes", "ByteArray", "Uint8Array", "Optional",
        "SecretStr", "SecretString", "CharField", "Varchar", "VARCHAR", "Option", "Promise", "Symbol",
    ];
    let value = value.trim_end_matches([',', ';', ')', '{']);
    let length = value.bytes().take(64).take_while(|&b| is(b, DOTTED)).count();
    let (name, tail) = (part(value, 0, length), rest(value, length));
    tick(length);
    let mut bytes = name.bytes();
    let capital = bytes.next().is_some_and(|b| b.is_ascii_uppercase());
    let letters = capital && bytes.clone().all(|b| b.is_ascii_alphabetic()) && bytes.any(|b| b.is_ascii_lowercase());
    let listed = TYPES.contains(&name);
    let ends = |whole: &str, end: &str| {
        whole.len().checked_sub(end.len()).is_some_and(|from| rest(whole, from).eq_ignore_ascii_case(end))
    };
    // Some passwords are names of types.
    let own = || letters && (ends(key, name) || kind != KeyKind::Password && !key.is_empty() && ends(name, key));
    match tail {
        "" | "!" | "?" | "[]" | "!]!" => listed || own(),
        _ => {
            (letters || listed) && (tail.starts_with('<') || tail.starts_with("[]") || listed && tail.starts_with('('))
        }
    }
}

/// Reports whether a value without quotes, of which the rest of the line follows, is the start of a sentence: a small
/// word before others.
pub(super) fn is_sentence(value: &str, tail: &str) -> bool {
    let line = tail.bytes().take(MAX_PART).position(|b| b == b'\n').unwrap_or(tail.len().min(MAX_PART));
    let word = |word: &str| word.bytes().all(|b| b.is_ascii_lowercase() || matches!(b, b',' | b'.' | b'\'' | b'!'));
    let words = part(tail, 0, line).split(' ').filter(|part| !part.is_empty());
    tick(line);
    word(value) && words.clone().count() >= 2 && words.take(3).all(word)
}

/// Reports whether a word stands before the key that ends at an offset, on its line.
pub(super) fn follows_word(text: &str, key_start: usize) -> bool {
    let end = key_start - usize::from(key_start > 0 && byte(text, key_start - 1) == Some(b' '));
    end < key_start && run_back(text, end, DOTTED, 16) < end
}
