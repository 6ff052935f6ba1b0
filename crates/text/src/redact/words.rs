//! Words that say what follows them, in any case of letters.

use super::assign::skip_scheme;
use super::chars::{
    DIGIT, DOTTED, LETTER, PATH, byte, is, is_space, part, rest, run, run_back, skip_space, skip_space_back,
    starts_ignoring_case, tick,
};
use super::keys::is_generated;
use super::keys::{KeyKind, MAX_KEY, is_placeholder, is_secret, key_kind};
use super::rules::{WORDS, Word};
use super::scanner::Scanner;
use crate::unicode::floor_char_boundary;

impl<'a> Scanner<'a> {
    /// Finds what a word announces, other than blocks and schemes.
    pub(super) fn announced(&mut self, word: Word, at: usize, floor: usize) -> Option<(usize, usize)> {
        match word {
            Word::Netrc => self.netrc_at(at, floor),
            Word::Is => self.sentence_at(at, floor),
            Word::Identified(length) => self.identified_at(at + length, floor),
            Word::Pair => self.pair_behind(at, floor),
            Word::Call => self.call_at(at, floor),
            Word::Login(length) => self.login_at(at + length, floor),
            Word::Sasl(length) => self.sasl_at(at + length, floor),
            Word::Prompt(length) => self.prompted_at(at + length, floor),
            Word::NumberedKey(length) => self.numbered_key_at(at + length, floor),
            Word::CookieLine => self.cookie_line_at(at, floor),
            Word::Insert(length) => {
                self.insert_at(at + length);
                None
            }
            Word::Copy(length) => {
                self.copy_at(at + length);
                None
            }
            Word::Signed => {
                self.request_signature(at);
                None
            }
            command => {
                self.command = Some((command, at));
                None
            }
        }
    }

    /// Finds the password in `machine h login u password x`.
    fn netrc_at(&mut self, at: usize, floor: usize) -> Option<(usize, usize)> {
        if byte(self.text, at + "password".len()) == Some(b'(') {
            return self.hashed_at(at, floor);
        }
        let start = skip_space(self.text, at + "password".len());
        let user_end = skip_space_back(self.text, floor, at);
        if start == at + "password".len() || user_end == at {
            return None;
        }
        let user = run_back(self.text, user_end, PATH, 64.min(user_end - floor));
        let name_end = skip_space_back(self.text, floor, user);
        if let Some((open, slashes, quote)) = self.open_quote(start) {
            return self.quoted_password(at, floor, (open, slashes, quote));
        }
        let login = part(self.text, floor, name_end).ends_with("login") && user < user_end;
        let tail = rest(self.text, start);
        let end = start + tail.find(|c| is_space(c) || matches!(c, '"' | '\'' | '\\')).unwrap_or(tail.len());
        let value = part(self.text, start, end);
        // "login with password authentication" is prose.
        let word = value.bytes().all(|b| b.is_ascii_lowercase() || matches!(b, b'-' | b'.' | b','));
        (login
            && (!word || self.names_machine(name_end))
            && is_secret(KeyKind::Password, value, false)
            && !self.is_mask(start, end))
        .then_some((start, end))
    }

    /// Reports whether the entry of a `.netrc` file begins shortly before an offset.
    fn names_machine(&self, end: usize) -> bool {
        let head = &self.text.as_bytes()[end.saturating_sub(128)..end];
        tick(head.len());
        head.windows(8).any(|word| word == b"machine ")
    }

    /// Finds the password in `= PASSWORD('x')` of a statement.
    fn hashed_at(&mut self, at: usize, floor: usize) -> Option<(usize, usize)> {
        let (open, slashes, quote) = self.open_quote(at + "password(".len())?;
        let before = skip_space_back(self.text, floor, at);
        let assigned = before > floor && byte(self.text, before - 1) == Some(b'=');
        let end = self.quoted_end(open, slashes, quote, false)?;
        let value = part(self.text, open, end);
        let shouted = part(self.text, at, at + "password".len()) == "PASSWORD";
        let told = shouted || value.bytes().any(|b| b.is_ascii_digit());
        (assigned
            && told
            && !value.contains(' ')
            && is_secret(KeyKind::Password, value, true)
            && !self.is_mask(open, end))
        .then_some((open, end))
    }

    /// Finds the password in `WITH PASSWORD 'x'` of databases, or a quoted one in prose.
    fn quoted_password(&mut self, at: usize, floor: usize, quote: (usize, usize, u8)) -> Option<(usize, usize)> {
        let end = self.quoted_end(quote.0, quote.1, quote.2, false)?;
        let value = part(self.text, quote.0, end);
        let ends = |word: &str| at.checked_sub(word.len()).is_some_and(|at| starts_ignoring_case(self.text, at, word));
        let told =
            ends("with ") || ends("encrypted ") || value.bytes().any(|b| b.is_ascii_digit()) && !value.contains(' ');
        (told && quote.0 >= floor && is_secret(KeyKind::Password, value, true) && !self.is_mask(quote.0, end))
            .then_some((quote.0, end))
    }

    /// Finds the password in `IDENTIFIED BY 'x'`, and in `IDENTIFIED WITH plugin BY 'x'`, from where the words end.
    fn identified_at(&mut self, at: usize, floor: usize) -> Option<(usize, usize)> {
        let mut start = skip_space(self.text, at);
        let plugin = run(self.text, start, DOTTED, 64);
        let by = skip_space(self.text, plugin);
        if plugin > start && by > plugin && starts_ignoring_case(self.text, by, "by ") {
            start = skip_space(self.text, by + "by ".len());
        }
        let (open, slashes, quote) = self.open_quote(start)?;
        let end = self.quoted_end(open, slashes, quote, false)?;
        let secret = is_secret(KeyKind::Password, part(self.text, open, end), true);
        (secret && open >= floor && !self.is_mask(open, end)).then_some((open, end))
    }

    /// Finds the value in `the API key is "x"`.
    fn sentence_at(&mut self, at: usize, floor: usize) -> Option<(usize, usize)> {
        let start = at + "is ".len();
        let quote = byte(self.text, start)?;
        if !matches!(quote, b'"' | b'\'' | b'`' | b'\\') || at == floor || byte(self.text, at - 1) != Some(b' ') {
            return None;
        }
        let kind = self.kind_of(at, start, floor)?;
        let (start, end) = self.value_at(start, false)?;
        let value = part(self.text, start, end);
        (value.bytes().any(|b| b.is_ascii_digit())
            && !value.contains(' ')
            && is_secret(kind, value, true)
            && !self.is_mask(start, end))
        .then_some((start, end))
    }

    /// Finds the value in `setenv NAME value`.
    fn pair_behind(&mut self, at: usize, floor: usize) -> Option<(usize, usize)> {
        let word =
            WORDS.iter().find(|(word, meaning)| *meaning == Word::Pair && starts_ignoring_case(self.text, at, word))?;
        self.spaced_pair(skip_space(self.text, at + word.0.len()), floor)
    }

    /// Finds the value of a name that starts at an offset, with nothing but white space between.
    pub(super) fn spaced_pair(&mut self, start: usize, floor: usize) -> Option<(usize, usize)> {
        let end = run(self.text, start, DOTTED, MAX_KEY);
        let from = end + rest(self.text, end).bytes().take_while(|b| matches!(b, b' ' | b'\t')).count();
        tick(from - end);
        if from == end || from < floor {
            return None;
        }
        let kind = key_kind(part(self.text, start, end))?;
        let (from, to) = self.value_at(from, false)?;
        let value = part(self.text, from, to);
        let has = |class| value.bytes().any(|b| is(b, class));
        (has(DIGIT) && has(LETTER) && !value.contains(' ') && is_secret(kind, value, false) && !self.is_mask(from, to))
            .then_some((from, to))
    }

    /// Finds the value in `set("NAME", "value")`.
    fn call_at(&mut self, at: usize, floor: usize) -> Option<(usize, usize)> {
        let open = at + rest(self.text, at).bytes().take(MAX_KEY).position(|b| b == b'(')?;
        let (name, slashes, quote) = self.open_quote(skip_space(self.text, open + 1))?;
        let end = run(self.text, name, DOTTED, MAX_KEY);
        let kind = key_kind(part(self.text, name, end))?;
        let comma = end + slashes + 1;
        if byte(self.text, comma - 1) != Some(quote) || byte(self.text, comma) != Some(b',') {
            return None;
        }
        let start = skip_space(self.text, comma + 1);
        self.open_quote(start)?;
        let (from, to) = self.value_at(start, false)?;
        let from = skip_scheme(self.text, from);
        let value = part(self.text, from, to);
        // `errors.put("password", "must have 8 characters")`
        if value.bytes().filter(|&b| b == b' ').count() > 1 && !is_generated(value) {
            return None;
        }
        (from >= floor && is_secret(kind, value, true) && !self.is_mask(from, to)).then_some((from, to))
    }

    /// Finds the value of an option of a command line, of which the name starts at an offset behind a hyphen.
    pub(super) fn option_at(&mut self, at: usize, floor: usize) -> Option<(usize, usize)> {
        let dashes = if at >= 2 && byte(self.text, at - 2) == Some(b'-') { 2 } else { 1 };
        let free = at == dashes
            || matches!(
                byte(self.text, at - dashes - 1),
                Some(b' ' | b'\t' | b'\n' | b'"' | b'\'' | b'(' | b'[' | b',' | b'`' | b'|' | b';')
            )
            || at > dashes && self.ends_escape(at - dashes);
        if !free {
            return None;
        }
        let name_end = run(self.text, at, DOTTED, MAX_KEY);
        let long = dashes == 2 || name_end >= at + 4;
        let kind = if long { key_kind(part(self.text, at, name_end)) } else { None };
        let name_end = if dashes == 2 || kind.is_some() { name_end } else { at + 1 };
        let name = part(self.text, at, name_end);
        let userinfo = matches!(name, "user" | "proxy-user" | "u" | "U");
        let letter = byte(self.text, at)?;
        let command = if kind.is_none() { self.command_at(at) } else { None };
        let attached = command == Some(Word::Attached(letter)) && dashes == 1;
        let named = kind.is_some() || attached || dashes == 1 && command == Some(Word::Option(letter));
        let spaced = skip_space(self.text, name_end);
        if userinfo && command == Some(Word::User) {
            let assigned = dashes == 2 && byte(self.text, name_end) == Some(b'=');
            let glued = dashes == 1 || assigned || spaced > name_end;
            return if glued { self.user_password(spaced + usize::from(assigned)) } else { None };
        }
        if spaced == name_end && !attached {
            return None;
        }
        if matches!(name, "b" | "cookie") && command == Some(Word::User) {
            self.cookies_behind(spaced);
            return None;
        }
        if !named || attached && spaced > name_end || byte(self.text, spaced) == Some(b'-') {
            return None;
        }
        let start = self.open_quote(spaced).map_or(spaced, |(open, _, _)| open);
        if start < floor {
            return None;
        }
        let (start, end) = self.value_at(spaced, false)?;
        let value = part(self.text, start, end);
        let word = value.bytes().all(|b| b.is_ascii_lowercase() || b == b'-') && start == spaced;
        let upper = value.bytes().all(|b| b.is_ascii_uppercase() || b == b'_') && start == spaced;
        let secret = is_secret(kind.unwrap_or(KeyKind::Password), value, true);
        (secret && !word && !upper && !self.is_mask(start, end)).then_some((start, end))
    }

    /// Returns the command of a line, unless the line has ended since.
    fn command_at(&mut self, at: usize) -> Option<Word> {
        let (command, from) = self.command?;
        let line = part(self.text, from, at);
        tick(line.len());
        let ended = line.split_inclusive('\n').any(|line| line.ends_with('\n') && !line.trim_end().ends_with('\\'));
        self.command = (!ended).then_some((command, at));
        self.command.map(|(command, _)| command)
    }

    /// Finds the password of `user:password`, either of which may be in quotes.
    fn user_password(&self, from: usize) -> Option<(usize, usize)> {
        let tail = rest(self.text, from);
        let slashes = tail.bytes().take_while(|&b| b == b'\\').count();
        let quote = tail.as_bytes().get(slashes).copied().filter(|b| matches!(b, b'"' | b'\''));
        let mut inside = quote.is_some();
        let mut colon = None;
        let mut end = tail.len().min(512);
        for (at, b) in tail.bytes().enumerate().take(512).skip(slashes + usize::from(inside)) {
            tick(1);
            match b {
                b':' | b'%' if colon.is_none() => colon = Some(at),
                b'\n' => end = at,
                b' ' if !inside => end = at,
                _ if Some(b) == quote => inside = !inside,
                _ => continue,
            }
            if end == at {
                break;
            }
        }
        let value = part(tail, colon? + 1, end);
        let secret = value.trim_start_matches(['"', '\'', '{']);
        let start = from + colon? + 1 + value.len() - secret.len();
        let secret = secret.trim_end_matches(['"', '\'', '}', '\\', '`', ',', ')']);
        let variable =
            secret.trim_start().starts_with('$') || ["{{", "${", "$("].iter().any(|sign| value.contains(sign));
        let end = start + secret.len();
        let known = matches!(secret, "token" | "pass" | "yyy") || secret.contains(['<', '[']);
        (secret.len() >= 4 && !variable && !known && !is_placeholder(secret) && !self.is_mask(start, end))
            .then_some((start, end))
    }

    /// Finds the text of an XML element of which the opening tag ends at an offset.
    pub(super) fn element_at(&mut self, at: usize, floor: usize) -> Option<(usize, usize)> {
        let open = self.tag_open(at)?;
        let tag = part(self.text, open, at);
        let name = tag.split([' ', '\t', '\r', '\n']).next().unwrap_or_default();
        let name_start = open + name.rfind(':').map_or(0, |colon| colon + 1);
        let name = part(self.text, name_start, open + name.len());
        let attribute = tag.strip_suffix('"').map(|tag| tag.split_at(run_back(tag, tag.len(), DOTTED, MAX_KEY)));
        let named =
            attribute.filter(|(before, _)| ["name=\"", "key=\"", "id=\""].iter().any(|sign| before.ends_with(sign)));
        let kind = match named {
            Some((_, attribute)) => key_kind(attribute),
            None if matches!(name, "string" | "value" | "Value") => self.element_before(name_start),
            None => key_kind(name),
        }?;
        let start = skip_space(self.text, at + 1);
        let data = rest(self.text, start).strip_prefix("<![CDATA[");
        let start = data.map_or(start, |data| self.text.len() - data.len());
        let tail = rest(self.text, start);
        let (close, most) = if data.is_some() { ("]]>", 512) } else { ("<", 4096) };
        let most = floor_char_boundary(tail, most);
        let found = part(tail, 0, most).find(close);
        tick(found.unwrap_or(most));
        let length = found?;
        let value = part(tail, 0, length).trim_end();
        let end = start + value.len();
        let closed = data.is_some() || rest(tail, length).starts_with("</");
        // Texts of user interfaces have names such as `password` as well, and headings have anchors.
        let anchor = named.is_some_and(|(before, _)| before.ends_with("id=\"") || name == "a");
        let prose = value.contains(' ') && !is_generated(value) || anchor && !value.bytes().any(|b| b.is_ascii_digit());
        (closed && !prose && start >= floor && is_secret(kind, value, true) && !self.is_mask(start, end))
            .then_some((start, end))
    }

    /// Returns where the opening tag begins, behind its `<`, of which the `>` is at an offset. It is short.
    fn tag_open(&self, at: usize) -> Option<usize> {
        let head = &self.text.as_bytes()[at.saturating_sub(256)..at];
        let length = head.iter().rev().position(|b| matches!(b, b'<' | b'>'));
        tick(length.unwrap_or(head.len()));
        let open = at - length?;
        let begins = byte(self.text, open).is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
        (begins && byte(self.text, open - 1) == Some(b'<')).then_some(open)
    }

    /// Returns what the element before another one names, as in `<key>token</key> <string>`.
    fn element_before(&self, name_start: usize) -> Option<KeyKind> {
        let head = part(self.text, 0, name_start.checked_sub(1)?);
        let trimmed = head.trim_end();
        tick(head.len() - trimmed.len());
        let inner = ["</key>", "</name>", "</Key>", "</Name>"].iter().find_map(|close| trimmed.strip_suffix(*close))?;
        let start = run_back(self.text, inner.len(), DOTTED, MAX_KEY);
        let named = part(self.text, 0, start).ends_with('>');
        if named { key_kind(part(self.text, start, inner.len())) } else { None }
    }

    /// Reports whether a key is the value of a pair that names a credential, as in `name: DB_PASSWORD, value: x`.
    pub(super) fn named_before(&self, key_start: usize, floor: usize) -> Option<KeyKind> {
        key_kind(self.pair_name(key_start, floor)?)
    }

    /// Returns what the pair is called of which a key is the value.
    pub(super) fn pair_name(&self, key_start: usize, floor: usize) -> Option<&'a str> {
        let gap = |end: usize| {
            let head = part(self.text, floor, end);
            let trimmed = head.trim_end_matches([' ', '\n', '\r', '\t', ',', '"', '\'', '\\', '-']);
            tick(head.len() - trimmed.len());
            (head.len() - trimmed.len() <= 64).then_some(floor + trimmed.len())
        };
        let mut before = key_start;
        // A pair or two may stand between, such as the type of the value.
        for _ in 0..3 {
            let end = gap(before)?;
            let start = run_back(self.text, end, DOTTED, 64);
            let sign =
                gap(start).filter(|&sign| sign > floor && matches!(byte(self.text, sign - 1), Some(b':' | b'=')))?;
            let name_end = gap(sign - 1)?;
            before = run_back(self.text, name_end, DOTTED, 64);
            let name = part(self.text, before, name_end);
            if ["name", "key", "variable"].iter().any(|word| name.eq_ignore_ascii_case(word)) {
                return Some(part(self.text, start, end));
            }
        }
        None
    }
}
